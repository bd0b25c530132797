package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"syscall"

	"github.com/brokermark/brokermark/internal/bounded"
)

// Host is the place on this machine where brokers are installed and run. Safe for use by several goroutines, and
// several processes may share one directory.
type Host struct {
	Dir string // install/ and run/ lie below
	log func(format string, args ...any)
}

// leastDisk is the space that a broker needs to start and write its first segments.
const leastDisk = 512 << 20

const homeVariable = "BROKERMARK_HOME"

// DefaultDir is $BROKERMARK_HOME; without it /var/lib/brokermark for root (the users that brokers run as can't enter /root)
// and the user's cache directory for others.
func DefaultDir() string {
	if dir := os.Getenv(homeVariable); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return "/var/lib/brokermark"
	}
	if cache, err := os.UserCacheDir(); err == nil {
		return filepath.Join(cache, "brokermark")
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) { // HOME isn't set
		return filepath.Join(u.HomeDir, ".cache", "brokermark")
	}
	// NewHost checks that no other user made it first.
	return filepath.Join(os.TempDir(), fmt.Sprintf("brokermark-%d", os.Geteuid()))
}

// NewHost prepares dir, removes what killed runs have left in it, and refuses it if it can't be created, can't be reached
// by the users that brokers run as, or is on an (almost) full disk (*ErrNoDisk). log may be nil; it is called from several
// goroutines.
func NewHost(dir string, log func(format string, args ...any)) (*Host, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = func(string, ...any) {}
	}
	h := &Host{Dir: dir, log: log}
	for _, d := range []string{dir, h.installs(), h.runs()} {
		if err := Own(d); err != nil { // before anything is made there
			return nil, err
		}
		_, absent := os.Stat(d)
		err := os.MkdirAll(d, 0o755)
		if err == nil && absent != nil {
			err = os.Chmod(d, 0o755) // the brokers' users must be able to enter it, whatever our umask is
		}
		if err != nil {
			return nil, fmt.Errorf("make the directory for brokers: %w (choose another with %s)", err, homeVariable)
		}
	}
	// Resolve links: one on the way may lead elsewhere by the time we write.
	if h.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	for _, d := range []string{h.Dir, h.installs(), h.runs()} {
		if err := Own(d); err != nil {
			return nil, err
		}
	}
	if os.Geteuid() == 0 {
		machinePolicy.restore()
		if shut := outOfReach(h.Dir); shut != "" {
			return nil, fmt.Errorf("brokers run as users of their own, who can't enter %s: choose another directory with %s",
				shut, homeVariable)
		}
	}
	for _, id := range h.sweepRuns() {
		h.log("removed what was left of %s", id)
	}
	return h, h.checkDisk()
}

// Rights of other users in one of our directories.
const (
	nothing    = os.FileMode(0)
	keepTheirs = os.ModeSticky // may create files that other users can't remove, as in /tmp
)

// ours refuses a link, and a directory in which other users could replace our programs. A group with our user's number counts as our own.
func ours(dir string, others os.FileMode) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	s, me, who := info.Sys().(*syscall.Stat_t), os.Geteuid(), ""
	switch mode := info.Mode(); {
	case int(s.Uid) != me && s.Uid != 0:
		who = fmt.Sprintf("%s belongs to another user, who could", dir)
	case mode&others != 0:
	case mode&0o002 != 0:
		who = fmt.Sprintf("everybody may write to %s, and", dir)
	case mode&0o020 != 0 && int(s.Gid) != me && s.Gid != 0:
		who = fmt.Sprintf("a group may write to %s, and", dir)
	}
	if who == "" {
		return nil
	}
	return fmt.Errorf("%s change what is run from it: choose another directory with %s", who, homeVariable)
}

// Own refuses a directory in which other users could put or replace files, or to which a link of theirs leads: what is there must not be run, read,
// overwritten or removed. A link of ours may lead to another disk. A directory that is missing is no error.
func Own(dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil {
		_, err = bounded.OwnPath(dir)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: choose another directory with %s", err, homeVariable)
	}
	return oursFromRoot(dir)
}

// oursFromRoot refuses a directory that other users could change, or replace by replacing a parent. Its path must have no links.
func oursFromRoot(dir string) error {
	others := nothing
	for {
		if err := ours(dir, others); err != nil {
			return err
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil
		}
		dir, others = above, keepTheirs
	}
}

func (h *Host) installs() string { return filepath.Join(h.Dir, "install") }
func (h *Host) runs() string     { return filepath.Join(h.Dir, "run") }

func (h *Host) checkDisk() error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(h.Dir, &fs); err != nil {
		return fmt.Errorf("ask for free disk below %s: %w", h.Dir, err)
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < leastDisk {
		return &ErrNoDisk{Dir: h.Dir, Free: free, Need: leastDisk}
	}
	return nil
}

// outOfReach names the first directory on the path of dir that other users can't enter.
func outOfReach(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if fi, err := os.Stat(d); err != nil || fi.Mode().Perm()&0o001 == 0 {
			return d
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}
