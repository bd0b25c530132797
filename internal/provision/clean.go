package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/brokermark/brokermark/internal/bounded"
)

// Holding is a file or directory of this tool below its work directory.
type Holding struct {
	Path  string
	What  string // "installation", "run directory", "log", "crash report", "list of packages", "control server" (token and certificate), "result", "note of topics" (on an attached broker)
	Bytes int64
	InUse string // why it can't be removed now; usually empty
}

// LogFile holds what client libraries log, in the work directory.
const LogFile = "brokermark.log"

// Directories of a fleet in the work directory: the token and certificate of its control server, and results that agents keep
// until they are stored, each in a file locked by its agent.
const (
	ControlDir = "fleet"
	ResultsDir = "agents"
)

// Holdings lists the files that certainly belong to this tool below dir: installations with their locks, directories of instances
// with their states, and the log. It changes nothing. It refuses a directory that other users could change: what they put there is not to be
// removed.
func Holdings(dir string) ([]Holding, error) {
	for _, below := range []string{"", "install", "run", leftDir, ResultsDir, ControlDir} {
		if err := Own(filepath.Join(dir, below)); err != nil {
			return nil, err
		}
	}
	var list []Holding
	locked := func(why string) func(string) (string, string) {
		return func(path string) (string, string) { return path, whyLocked(path, why) }
	}
	for _, kind := range []struct {
		what, pattern string
		of            func(found string) (path, inUse string)
	}{
		{"installation", "install/*" + lockSuffix, func(lock string) (string, string) {
			return strings.TrimSuffix(lock, lockSuffix), whyLocked(lock, "it is being installed")
		}},
		{"run directory", "run/*/" + stateFile, func(state string) (string, string) { return filepath.Dir(state), inUse(filepath.Dir(state)) }},
		{"note of topics", leftDir + "/*", locked("a run uses the broker")},
		{"result", ResultsDir + "/*", locked("an agent keeps it until it is stored")},
	} {
		paths, err := filepath.Glob(filepath.Join(dir, kind.pattern))
		if err != nil {
			return nil, err
		}
		for _, found := range paths {
			path, inUse := kind.of(found)
			list = append(list, Holding{Path: path, What: kind.what, InUse: inUse})
		}
	}
	list = append(list, halves(dir)...)
	for name, what := range map[string]string{LogFile: "log", packagesFile: "list of packages"} {
		if path := filepath.Join(dir, name); isFile(path) {
			list = append(list, Holding{Path: path, What: what})
		}
	}
	for _, report := range crashReports() {
		list = append(list, Holding{Path: report, What: "crash report"})
	}
	if path := filepath.Join(dir, ControlDir); isDir(path) {
		list = append(list, Holding{Path: path, What: "control server"})
	}
	slices.SortStableFunc(list, func(a, b Holding) int { return strings.Compare(a.Path, b.Path) })
	for i := range list {
		list[i].Bytes = taken(list[i].Path)
		if list[i].What == "installation" {
			list[i].Bytes += taken(list[i].Path + unfinishedInstall)
		}
	}
	return list, nil
}

// halves returns directories of instances that a killed tool had begun to make.
func halves(dir string) (list []Holding) {
	begun, _ := filepath.Glob(filepath.Join(dir, "run", "bm-*"))
	for _, d := range begun {
		if isFile(filepath.Join(d, stateFile)) || !unfinished(d) {
			continue
		}
		hold := Holding{Path: d, What: "run directory"}
		if held := seize(d); held != nil {
			held.Close()
		} else if isFile(filepath.Join(d, holdFile)) || young(d) {
			hold.InUse = "another brokermark is making it"
		}
		list = append(list, hold)
	}
	return list
}

// crashReports lists the crash reports of this user's runs in the temporary directory.
func crashReports() (own []string) {
	reports, _ := filepath.Glob(filepath.Join(os.TempDir(), "brokermark-crash-*.txt"))
	for _, r := range reports {
		info, err := os.Lstat(r)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) == os.Geteuid() {
			own = append(own, r)
		}
	}
	return own
}

// packagesFile lists the system packages that were installed because a broker needs them.
const packagesFile = "system-packages.txt"

// Packages returns the system packages that this tool has installed for brokers. They stay: other programs may use them by now.
func Packages(dir string) []string {
	text, err := bounded.File(filepath.Join(dir, packagesFile), 1<<20)
	if err != nil {
		return nil
	}
	names := strings.Fields(string(text))
	slices.Sort(names)
	return slices.Compact(names)
}

// keepPackages adds names to the list of packages.
func (h *Host) keepPackages(names []string) {
	f, err := os.OpenFile(filepath.Join(h.Dir, packagesFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		defer f.Close()
		_, err = f.WriteString(strings.Join(names, "\n") + "\n")
	}
	if err != nil {
		h.log("keep the list of packages: %v", err)
	}
}

// inUse returns why the directory of an instance may still be needed; usually empty.
func inUse(dir string) string {
	s, err := readState(dir)
	switch {
	case err != nil:
		return "whether a broker runs in it can't be told: " + err.Error()
	case s.Running > 0 || s.Owner.alive():
		return s.Broker + " runs in it"
	}
	held := seize(dir)
	if held == nil {
		return s.Broker + " runs in it, maybe in another container"
	}
	held.Close()
	return ""
}

// Clear removes holdings of dir, then their directories if those are empty, and the leftovers of a tool that was killed while it
// installed system packages. It removes nothing while a broker runs or is being installed, since a running broker needs its
// installation.
func Clear(dir string, list []Holding) error {
	for _, hold := range list {
		if hold.InUse != "" {
			return fmt.Errorf("%s: %s", hold.Path, hold.InUse)
		}
	}
	machinePolicy.restore()
	for _, hold := range list {
		if err := hold.remove(); err != nil {
			return err
		}
	}
	for _, d := range []string{filepath.Join(dir, "install"), filepath.Join(dir, "run"), filepath.Join(dir, ResultsDir), filepath.Join(dir, leftDir), dir} {
		if err := os.Remove(d); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (hold Holding) remove() error {
	switch hold.What {
	case "run directory":
		killBelow(hold.Path) // processes whose killed supervisors could not end them
		letGo(hold.Path)
		sweepGroups(hold.Path)
	case "installation":
		lock, err := openLocked(hold.Path+lockSuffix, os.O_RDONLY, exclusiveNow)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another brokermark has removed it
			return nil
		case err != nil:
			return fmt.Errorf("%s: it is being installed: %w", hold.Path, err)
		}
		defer lock.Close() // last: a process that waits for the lock then sees that the file has no name any more
		if err := errors.Join(os.RemoveAll(hold.Path+unfinishedInstall), os.RemoveAll(hold.Path)); err != nil {
			return err
		}
		return os.Remove(lock.Name())
	}
	return os.RemoveAll(hold.Path)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// whyLocked returns why if another process holds the lock, and otherwise nothing.
func whyLocked(lock, why string) string {
	f, err := openLocked(lock, os.O_RDONLY, exclusiveNow)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return why
	}
	if err == nil {
		f.Close()
	}
	return ""
}
