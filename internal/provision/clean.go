package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Holding is something that this tool has put below its work directory.
type Holding struct {
	Path  string
	What  string // "installation", "run directory", "log"
	Bytes int64
	InUse string // why it can't be removed now; usually empty
}

// LogFile takes what client libraries say, in the work directory.
const LogFile = "brokermark.log"

// Holdings lists what lies below dir of which this tool knows that it is its own: installations, each beside its lock,
// directories of instances, each with its state, and the log. It changes nothing.
func Holdings(dir string) ([]Holding, error) {
	var list []Holding
	locks, err := filepath.Glob(filepath.Join(dir, "install", "*.lock"))
	if err != nil {
		return nil, err
	}
	for _, lock := range locks {
		hold := Holding{Path: strings.TrimSuffix(lock, ".lock"), What: "installation"}
		if busy(lock) {
			hold.InUse = "it is being installed"
		}
		list = append(list, hold)
	}
	states, err := filepath.Glob(filepath.Join(dir, "run", "*", stateFile))
	if err != nil {
		return nil, err
	}
	for _, state := range states {
		hold := Holding{Path: filepath.Dir(state), What: "run directory"}
		hold.InUse = inUse(hold.Path)
		list = append(list, hold)
	}
	if log := filepath.Join(dir, LogFile); isFile(log) {
		list = append(list, Holding{Path: log, What: "log"})
	}
	for i := range list {
		list[i].Bytes = taken(list[i].Path)
	}
	return list, nil
}

// inUse says why the directory of an instance may still be needed; usually empty.
func inUse(dir string) string {
	s, err := readState(dir)
	switch {
	case err != nil:
		return "whether a broker runs in it can't be told: " + err.Error()
	case s.Running > 0 || s.Owner.alive():
		return s.Broker + " runs in it"
	case s.Form == 0: // its tool held no lock
		return ""
	}
	held := seize(dir)
	if held == nil {
		return s.Broker + " runs in it, maybe in another container"
	}
	held.Close()
	return ""
}

// Clear removes holdings of dir, and the directories that held them where nothing else is in those. While a broker runs
// or is being installed it removes nothing: what runs was installed here.
func Clear(dir string, list []Holding) error {
	for _, hold := range list {
		if hold.InUse != "" {
			return fmt.Errorf("%s: %s", hold.Path, hold.InUse)
		}
	}
	for _, hold := range list {
		if err := os.RemoveAll(hold.Path); err != nil {
			return err
		}
		if hold.What == "installation" {
			if err := os.Remove(hold.Path + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for _, d := range []string{filepath.Join(dir, "install"), filepath.Join(dir, "run"), dir} {
		if err := os.Remove(d); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// busy tells that another process holds the lock.
func busy(lock string) bool {
	f, err := os.Open(lock)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
