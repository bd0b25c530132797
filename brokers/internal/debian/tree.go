// Package debian runs servers out of a tree of Debian packages that lies in a directory of its own. It knows nothing
// of any particular server.
package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// Install unpacks packages of a suite with their own C library, and looks whether program, started with flag, names
// the version that was asked for: Debian may have moved on.
func Install(ctx context.Context, i *provision.Install, suite, version, program, flag string, packages ...string) error {
	if err := i.AptTree(ctx, suite, packages...); err != nil {
		return err
	}
	c, err := command(i.Dir, program, flag)
	if err != nil {
		return err
	}
	// Mosquitto ends its help with code 3; what matters is the version in the text.
	script := `case "$("$@" 2>&1)" in *"` + version + `"*) ;; *) echo "not ` + version + `"; exit 1;; esac`
	return i.Exec(ctx, i.Dir, "sh", append([]string{"-c", script, "sh", c.Path}, c.Args...)...)
}

// Command runs a program of the node's tree through the tree's own loader and libraries: they may be newer than the
// machine's. It needs neither root nor anything on the machine, and is the server's own process, without a wrapper.
func Command(n *provision.Node, program string, args ...string) (provision.Command, error) {
	return command(n.Cluster.Install, program, args...)
}

func command(install, program string, args ...string) (provision.Command, error) {
	tree := filepath.Join(install, "tree")
	var dirs []string
	loader := ""
	// Until Debian 12 the C library lies in /lib, everything else in /usr/lib.
	for _, lib := range []string{"lib/*-linux-gnu*", "usr/lib/*-linux-gnu*"} {
		found, _ := filepath.Glob(filepath.Join(tree, lib))
		dirs = append(dirs, found...)
		if loaders, _ := filepath.Glob(filepath.Join(tree, lib, "ld-linux*.so.*")); len(loaders) > 0 {
			loader = loaders[0]
		}
	}
	path := filepath.Join(tree, program)
	if _, err := os.Stat(path); err != nil || loader == "" {
		return provision.Command{}, errors.Join(fmt.Errorf("no %s with a program loader below %s", program, tree), err)
	}
	own := []string{"--argv0", filepath.Base(program), "--library-path", strings.Join(dirs, ":"), path}
	return provision.Command{Path: loader, Args: append(own, args...)}, nil
}
