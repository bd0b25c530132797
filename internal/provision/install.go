package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Install makes a broker version available and returns its directory; "" means the default version. It is quick if the version is
// already installed. Two tools never install the same thing at once; a failed installation leaves nothing behind.
func (h *Host) Install(ctx context.Context, broker, version string) (dir string, err error) {
	r, v, err := startable(broker, version)
	if err != nil {
		return "", err
	}
	dir = h.installDir(r, v)
	unlock, err := lockFile(ctx, dir+lockSuffix)
	if err != nil {
		return "", fmt.Errorf("wait for another installation of %s %s: %w", broker, v.Name, err)
	}
	defer unlock()
	if err := h.Meet(ctx, v.Needs...); err != nil {
		return "", fmt.Errorf("%s %s: %w", broker, v.Name, err)
	}
	if r.there(dir) {
		return dir, nil
	}
	if err := h.checkDisk(); err != nil {
		return "", err
	}
	return dir, h.fill(ctx, r, v, dir)
}

// startable returns the recipe and the version, or *ErrRefused if they don't exist or can't be started on this system.
func startable(broker, version string) (*Recipe, Version, error) {
	r, err := Lookup(broker)
	if err != nil {
		return nil, Version{}, &ErrRefused{Broker: broker, Reason: err.Error()}
	}
	v, err := r.Version(version)
	if err != nil {
		return nil, Version{}, err
	}
	return r, v, r.startsHere(adoptsOrphans)
}

// unfinishedInstall ends the name of a directory that is being filled.
const unfinishedInstall = ".new"

// fill installs beside dir and renames, so that dir exists only when it is complete.
func (h *Host) fill(ctx context.Context, r *Recipe, v Version, dir string) error {
	temp := dir + unfinishedInstall
	if err := os.RemoveAll(temp); err != nil { // left by a killed tool: the lock is ours now
		return err
	}
	if err := errors.Join(os.Mkdir(temp, 0o755), os.Chmod(temp, 0o755)); err != nil { // whatever our umask is
		return err
	}
	defer os.RemoveAll(temp)
	if r.Install != nil {
		h.log("installing %s %s", r.Broker, v.Name)
		if err := r.Install(ctx, &Install{Version: v.Name, Dir: temp, Log: h.log}); err != nil {
			return installFailed(r.Broker, v.Name, err)
		}
	}
	if err := openToAll(temp); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // of a version that was once installed in another way
		return err
	}
	return os.Rename(temp, dir)
}

// there reports whether an installation is complete. If the recipe installs anything, it must not be empty.
func (r *Recipe) there(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, r.Complete)); err != nil {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && (r.Install == nil || len(entries) > 0)
}

func installFailed(broker, version string, err error) error {
	_, missing := errors.AsType[*ErrMissing](err)
	_, altered := errors.AsType[*ErrAltered](err)
	if missing || altered || errors.Is(err, context.Canceled) {
		return fmt.Errorf("install %s %s: %w", broker, version, err)
	}
	return &ErrMissing{What: broker + " " + version, Err: err}
}

// Installed lists, in one sentence each, what prevents this machine from starting the broker; empty if it could start now. It
// changes nothing.
func (h *Host) Installed(broker, version string) (missing []string) {
	r, v, err := startable(broker, version)
	if err != nil {
		return []string{err.Error()}
	}
	for _, n := range v.Needs {
		if !n.met() {
			missing = append(missing, n.missing(nil).Error())
		}
	}
	if r.Install != nil && !r.there(h.installDir(r, v)) {
		missing = append(missing, fmt.Sprintf("%s %s is not installed yet; install it with: brokermark broker install %s@%s",
			broker, v.Name, broker, v.Name))
	}
	return missing
}

func (h *Host) installDir(r *Recipe, v Version) string {
	return filepath.Join(h.installs(), cmp.Or(r.Product, r.Broker)+"-"+strings.ReplaceAll(v.Name, "/", "_"))
}

// Version finds a version by name; "" is the default. For an unknown one the error lists all versions (*ErrRefused).
func (r *Recipe) Version(name string) (Version, error) {
	var known []string
	for _, v := range r.Versions {
		if name == "" || v.Name == name {
			return v, nil
		}
		known = append(known, v.Name)
	}
	return Version{}, &ErrRefused{Broker: r.Broker, Reason: fmt.Sprintf("no version %q; obtainable: %s", name, strings.Join(known, ", ")), Path: "version"}
}

// Meet makes needs available on this machine: as root it installs Debian packages; if it can't, it returns *ErrMissing, which
// names the command to type.
func (h *Host) Meet(ctx context.Context, needs ...Need) error {
	for _, n := range needs {
		if n.met() {
			continue
		}
		if os.Geteuid() != 0 || len(n.Apt) == 0 {
			return n.missing(nil)
		}
		h.log("installing the system packages %s", strings.Join(n.Apt, " "))
		absent := slices.DeleteFunc(slices.Clone(n.Apt), debInstalled)
		err := aptInstall(ctx, n.Apt)
		h.keepPackages(slices.DeleteFunc(absent, func(name string) bool { return !debInstalled(name) }))
		if err != nil {
			return n.missing(err)
		}
		if !n.met() {
			return n.missing(errors.New("its packages were installed without it"))
		}
	}
	return nil
}

func (n Need) met() bool {
	_, err := n.path()
	return err == nil
}

// path returns the path of the command.
func (n Need) path() (string, error) {
	if path, err := exec.LookPath(n.Command); err == nil {
		return path, nil
	}
	if filepath.IsAbs(n.Command) { // a file need not be executable
		if _, err := os.Stat(n.Command); err == nil {
			return n.Command, nil
		}
	}
	return "", n.missing(nil)
}

func (n Need) missing(err error) error {
	m := &ErrMissing{What: n.Command, Err: err}
	if len(n.Apt) > 0 {
		m.Fix = aptCommand(n.Apt)
	}
	return m
}

// lockSuffix ends the name of an installation's lock.
const lockSuffix = ".lock"

// lockFile waits for an exclusive lock; the kernel releases it when this process ends in any way. It opens the file again after
// each wait: Clear may have removed the one that it waited for.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := openLocked(path, os.O_CREATE, exclusiveNow)
		switch {
		case err == nil && hasName(f):
			return func() { f.Close() }, nil
		case err == nil:
			f.Close()
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// hasName reports whether an open file still has its name.
func hasName(f *os.File) bool {
	open, err := f.Stat()
	named, missing := os.Lstat(f.Name())
	return err == nil && missing == nil && os.SameFile(open, named)
}

// openToAll lets the brokers' users read the installed files, whatever our umask is.
func openToAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		mode := fi.Mode().Perm() | 0o444
		if d.IsDir() || mode&0o100 != 0 {
			mode |= 0o111
		}
		return os.Chmod(path, mode|fi.Mode()&fs.ModeSticky)
	})
}
