package provision

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/internal/bounded"
)

// maxPrinted bounds what a command may print, in bytes.
const maxPrinted = 64 << 20

const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// LogPath returns the file for the node's standard output and error; it grows over restarts.
func (n *Node) LogPath() string {
	return filepath.Join(n.Cluster.dir, fmt.Sprintf("node-%d.log", n.ID))
}

// temp is the name of the directory for temporary files in a node's directory.
const temp = "tmp"

// Temp returns the node's directory for temporary files, to which TMPDIR is set and which is removed with the node.
func (n *Node) Temp() string { return filepath.Join(n.Dir, temp) }

// Run runs a command to its end, as the broker's user and with the same environment rules, and returns its output (standard output and
// error together), for example to format a data directory. The command and its children are killed when ctx or the tool itself ends.
func (n *Node) Run(ctx context.Context, c Command) (string, error) {
	out, err := os.CreateTemp(n.Cluster.dir, "command-*.log")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	j, err := n.job(c)
	if err != nil {
		return "", err
	}
	text, end, err := runToEnd(ctx, j, out)
	switch {
	case err != nil:
		return text, fmt.Errorf("run %s: %w", c.name(), err)
	case end.Code != 0:
		return text, fmt.Errorf("%s %s%s", c.name(), end, logged(tail(text, tailLines)))
	}
	return text, nil
}

// runToEnd runs j, which prints to out, to its end, and returns its output and how it ended. The process and its children are
// killed when ctx or the tool itself ends.
func runToEnd(ctx context.Context, j job, out *os.File) (text string, end fate, err error) {
	p, err := launch(j, out, nil)
	if err != nil {
		return "", fate{}, err
	}
	waitErr := p.wait(ctx)
	p.kill()
	p.dismiss()
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return "", p.fate, err
	}
	printed, err := bounded.All(out, maxPrinted)
	if err != nil {
		return "", p.fate, err
	}
	return string(printed), p.fate, waitErr
}

// job returns c in the form that a supervisor takes.
func (n *Node) job(c Command) (job, error) {
	j := job{
		Path: c.Path, Args: c.Args, Dir: cmp.Or(c.Dir, n.Dir), Program: c.Program, Input: c.Input,
		User: n.Cluster.user, Mask: privateMask,
	}
	if !n.Cluster.lent {
		j.Remove, j.Keep = n.Cluster.dir, n.Cluster.keep
	}
	if c.Program == "" {
		path, err := exec.LookPath(c.Path)
		if err != nil {
			return job{}, &ErrMissing{What: c.Path, Err: err}
		}
		j.Path = path
	}
	j.Env = cleanEnvironment(n.Dir, append([]string{"TMPDIR=" + n.Temp()}, c.Env...))
	return j, nil
}

func (c Command) name() string { return cmp.Or(c.Program, filepath.Base(c.Path)) }

const (
	tailLines = 12
	tailBytes = 64 << 10
)

func tail(text string, n int) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-n):]
}

// tailOf returns the last n lines of a file, or as many of them as its last 64 KiB hold.
func tailOf(path string, n int) []string {
	text, _ := lastBytes(path, tailBytes)
	return tail(string(text), n)
}

// lastBytes reads at most the last most bytes of a file: a broker's log may be huge.
func lastBytes(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-most), most))
}
