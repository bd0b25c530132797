package fleet

import "github.com/prometheus/procfs"

// loadAverage is how many threads of this machine wanted to run, over the last minute; -1: not known.
func loadAverage() float64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return -1
	}
	l, err := fs.LoadAvg()
	if err != nil {
		return -1
	}
	return l.Load1
}
