package provision

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/brokermark/brokermark/internal/bounded"
)

// A broker's configuration may hold a password, and its data may be private: only the broker's user may read and write them.
const (
	privateFile = 0o600
	privateDir  = 0o700
	// privateMask makes the files that a broker itself writes private, too.
	privateMask = 0o077
)

// Write creates or replaces the file name below the node's directory, with all directories on the way. The file belongs to the
// broker's user, and no other user may read it. Recipes write files only with it.
//
// The broker may own the directory already and put links into it: Write never writes outside the directory, and changes the owner
// of the file that it created, whatever has its name by then.
func (n *Node) Write(name string, content []byte) error {
	if err := n.MakeDir(path.Dir(name)); err != nil {
		return err
	}
	root, err := os.OpenRoot(n.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	temp := path.Join(path.Dir(name), ".new-"+rand.Text())
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, privateFile)
	if err != nil {
		return fmt.Errorf("write %s of node %d: %w", name, n.ID, err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, n.own(f), f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return fmt.Errorf("write %s of node %d: %w", name, n.ID, errors.Join(err, root.Remove(temp)))
	}
	return nil
}

// make creates the node's directory.
func (n *Node) make() error {
	err := os.Mkdir(n.Dir, privateDir)
	if user := n.Cluster.user; err == nil && user != 0 {
		err = os.Lchown(n.Dir, user, user)
	}
	return err
}

// MakeDir creates the directory name below the node's directory, with all on the way, as Write does for files.
func (n *Node) MakeDir(name string) error {
	root, err := os.OpenRoot(n.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return n.makeDir(root, filepath.Clean(name))
}

func (n *Node) makeDir(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	if err := n.makeDir(root, filepath.Dir(name)); err != nil {
		return err
	}
	switch err := root.Mkdir(name, privateDir); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("make the directory %s of node %d: %w", name, n.ID, err)
	}
	d, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0) // the broker may have put a file there
	if err != nil {
		return err
	}
	defer d.Close()
	return n.own(d)
}

// Read reads a file below the node's directory, which the broker may have written. It refuses files that are not regular, longer
// than limit bytes, or outside the directory.
func (n *Node) Read(name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(n.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return bounded.FileIn(root.FS(), name, limit)
}

// Log returns the end of the node's output, 16 MiB at most.
func (n *Node) Log() ([]byte, error) { return lastBytes(n.LogPath(), 16<<20) }

// show makes a private file or directory of our user readable for a group, unless the group is 0.
func show(path string, group int) error {
	if group == 0 {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	mode := os.FileMode(0o640)
	if info.IsDir() {
		mode = 0o710
	}
	return errors.Join(os.Lchown(path, 0, group), os.Chmod(path, mode))
}

// shut reverses show.
func shut(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return errors.Join(os.Chmod(dir, privateDir), os.Lchown(dir, 0, 0))
}

// own gives an open file or directory, whatever its name is by now, to the broker's user.
func (n *Node) own(f *os.File) error {
	if user := n.Cluster.user; user != 0 {
		return f.Chown(user, user)
	}
	return nil
}
