package bounded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links a path may have, as the kernel has it.
const maxLinks = 40

// OwnPath returns path with each of its links resolved. It refuses links of users other than this one and root, and links with a
// name that such a user may have added: a user who can create a link at the path of a report or a store must not choose the file
// that is written.
// With an error, the path is the one whose link is refused.
func OwnPath(path string) (string, error) {
	for range maxLinks {
		link, rest, err := firstLink(path)
		switch {
		case err != nil:
			return path, err
		case link == "":
			return path, nil
		}
		target, err := os.Readlink(link)
		if err != nil {
			return path, err
		}
		if !filepath.IsAbs(target) {
			target = link[:strings.LastIndexByte(link, '/')+1] + target
		}
		if exists(link) && !exists(target) { // /proc/self/fd/1 names a pipe so
			return path, nil
		}
		path = target + rest
	}
	return path, syscall.ELOOP
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// firstLink returns the beginning of path that is a link, or "", and the rest of path. It is an error if the link is another user's.
func firstLink(path string) (link, rest string, err error) {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		info, err := os.Lstat(path[:end])
		if err != nil {
			return "", "", nil // a missing file is no link
		}
		if info.Mode()&os.ModeSymlink == 0 {
			continue
		}
		switch s := info.Sys().(*syscall.Stat_t); {
		case !trusted(s):
			return "", "", fmt.Errorf("%s is a link that another user made (uid %d)", path[:end], s.Uid)
		case s.Nlink > 1 && isOpen(filepath.Dir(path[:end])):
			return "", "", fmt.Errorf("%s is one of %d names of a link, and may be another user's", path[:end], s.Nlink)
		}
		return path[:end], path[end:], nil
	}
	return "", "", nil
}

func trusted(s *syscall.Stat_t) bool { return s.Uid == 0 || int(s.Uid) == os.Geteuid() }

// isOpen reports whether other users than this one and root may make files in a folder.
func isOpen(folder string) bool {
	info, err := os.Stat(folder)
	return err != nil || info.Mode()&0o022 != 0 || !trusted(info.Sys().(*syscall.Stat_t))
}
