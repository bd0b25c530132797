package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// suffixes are those of the files that SQLite looks for beside a store. It writes pages back from any journal that it finds, or cuts the
// store off.
var suffixes = []string{journal, "-wal", "-shm"}

const journal = "-journal"

// checkBeside refuses a store with a file beside it that may be of another user.
func checkBeside(path string, store os.FileInfo) error {
	path, open := inOpenFolder(path)
	if !open {
		return nil
	}
	trusted := []int{0, os.Geteuid(), ownerOf(store)}
	for _, suffix := range suffixes {
		info, err := os.Lstat(path + suffix)
		if err == nil && !slices.Contains(trusted, ownerOf(info)) {
			return &Error{Problem: BadURL, Store: path, Detail: "has a file beside it that another user made, which would change what it holds: " +
				path + suffix + "; name a store in a folder of yours"}
		}
	}
	return nil
}

// inOpenFolder returns the path without links, and whether any user may make files beside it, which only their owners may remove. Who
// shares another folder shares a store.
func inOpenFolder(path string) (string, bool) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, err := os.Stat(filepath.Dir(path))
	return path, err == nil && folder.Mode()&os.ModeSticky != 0
}

// guard makes the files beside a store of this user's in an open folder that are missing, and returns their names: else another user
// could, after checkBeside and before SQLite opens them. SQLite takes empty ones for none.
func guard(path string) (made []string, err error) {
	store, err := os.Stat(path)
	path, open := inOpenFolder(path)
	if err != nil || !open || ownerOf(store) != os.Geteuid() {
		return nil, nil
	}
	for _, suffix := range suffixes {
		f, err := os.OpenFile(path+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, store.Mode().Perm())
		if err == nil {
			made = append(made, path+suffix)
			_ = f.Close()
		}
	}
	if err = checkBeside(path, store); err != nil {
		removeEmpty(made)
	}
	return made, err
}

// unguard removes what guard has made of a store that is closed now. existed is from before.
func unguard(path string, existed map[string]bool, made []string) {
	for _, file := range made {
		if _, err := os.Lstat(file); err == nil && !strings.HasSuffix(file, journal) { // SQLite has left it: another process may use it
			abandon(path, existed)
			break
		}
	}
	removeEmpty(slices.DeleteFunc(made, func(file string) bool { return !strings.HasSuffix(file, journal) }))
}

func removeEmpty(files []string) {
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && info.Size() == 0 {
			_ = os.Remove(file)
		}
	}
}

// ownerOf returns the user that a file belongs to.
func ownerOf(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return os.Geteuid()
}
