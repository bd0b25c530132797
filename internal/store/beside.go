package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// suffixes are the endings of the files that SQLite looks for beside a store. SQLite replays any journal that it finds there, or
// truncates the store.
var suffixes = []string{journal, "-wal", "-shm"}

const journal = "-journal"

// checkBeside refuses a store if a file beside it may belong to another user.
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

// inOpenFolder returns the path with links resolved, and whether its folder is sticky, as /tmp is: any user may create files
// there, which only their owners may remove. A folder that is shared without the sticky bit also shares its stores.
func inOpenFolder(path string) (string, bool) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, err := os.Stat(filepath.Dir(path))
	return path, err == nil && folder.Mode()&os.ModeSticky != 0
}

// guard creates the missing files beside a store in an open folder and returns their names. Otherwise another user could create
// them between checkBeside and SQLite's open. SQLite treats empty files like missing ones.
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

// unguard removes the files that guard made for a store that is now closed. existed holds the files that were there before.
func unguard(path string, existed map[string]bool, made []string) {
	for _, file := range made {
		if _, err := os.Lstat(file); err == nil && !strings.HasSuffix(file, journal) { // SQLite left it there: another process may use it
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
