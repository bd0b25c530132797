package provision

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Enclosed has c run a program with the /usr and /etc of a tree that AptTree has made, bubblewrap among its packages, instead
// of the machine's: another Debian's programs need another C library than this one has, and find each other by their paths.
// bwrap comes from the tree too, started through the tree's own loader; so neither root nor any package on the machine is
// needed, only user namespaces. It ends with its supervisor, also where that is killed. Paths outside of /usr and /etc are the same on both sides. Signals are not passed on.
// more are further options of bwrap.
func Enclosed(n *Node, c Command, program string, more ...string) (Command, error) {
	tree := filepath.Join(n.Cluster.Install, "tree")
	loaders, _ := filepath.Glob(filepath.Join(tree, "usr/lib/*-linux-gnu*/ld-linux*.so.*"))
	if len(loaders) == 0 {
		return c, fmt.Errorf("no program loader below %s", tree)
	}
	args := []string{
		"--library-path", filepath.Dir(loaders[0]), filepath.Join(tree, "usr/bin/bwrap"), "--die-with-parent",
		"--ro-bind", tree + "/usr", "/usr", "--ro-bind", tree + "/etc", "/etc",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--dev", "/dev", "--ro-bind", "/proc", "/proc", "--ro-bind-try", "/sys", "/sys", "--tmpfs", "/tmp", "--bind", n.Dir, n.Dir,
	}
	if t := n.Cluster.TLS; t != nil {
		args = append(args, "--ro-bind", filepath.Dir(t.CA), filepath.Dir(t.CA))
	}
	c.Args = slices.Concat(args, more, []string{"--chdir", n.Dir, program}, c.Args)
	c.Path = loaders[0]
	return c, nil
}
