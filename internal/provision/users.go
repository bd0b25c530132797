package provision

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The numbers of users, and of groups, that neither distributions nor systemd assign. If we are root, the first one without a
// name on this machine is the user for programs of installations; each instance has another one of its own. The user nobody is
// not suitable, since other services run as nobody.
const (
	firstUser = 60900
	lastUser  = 60999
)

// usersDir holds a file for each user that an instance has or had. The tool and its supervisors hold a shared lock on the file
// for as long as the instance's directory and processes may exist.
var usersDir = filepath.Join(volatileDir, "brokermark-users")

// installer returns the user for programs of installations; 0 if we are not root and they run as our user.
func installer() (int, error) {
	if os.Geteuid() != 0 {
		return 0, nil
	}
	free, err := nameless()
	if err != nil {
		return 0, err
	}
	return free[0], nil
}

// takeUser finds a user for an instance of this host. No other instance gets it until the last copy of the lock is closed.
// Without root it returns 0 and no lock.
func (h *Host) takeUser() (id int, lock *os.File, err error) {
	if os.Geteuid() != 0 {
		return 0, nil, nil
	}
	free, err := nameless()
	if err != nil {
		return 0, nil, err
	}
	turn, err := chooseAlone()
	if err != nil {
		return 0, nil, fmt.Errorf("choose a user for the broker: %w", err)
	}
	defer turn.Close()
	taken := h.usersSeen()
	for _, i := range rand.Perm(len(free) - 1) { // random, so that a broker's leftovers in /tmp don't belong to the next one
		id := free[i+1]
		if taken[id] {
			continue
		}
		switch lock, err := openLocked(userFile(id), os.O_CREATE, exclusiveNow); {
		case err == nil:
			if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH); err != nil { // so that holdUser need not wait
				lock.Close()
				return 0, nil, err
			}
			return id, lock, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return 0, nil, fmt.Errorf("choose a user for the broker: %w", err)
		}
	}
	return 0, nil, fmt.Errorf("all users that a broker could run as (%d to %d) are in use", free[1], free[len(free)-1])
}

// holdUser takes a shared lock on the user of a running instance.
func holdUser(id int) (*os.File, error) {
	if id == 0 {
		return nil, nil
	}
	return openLocked(userFile(id), os.O_CREATE, syscall.LOCK_SH)
}

func userFile(id int) string { return filepath.Join(usersDir, strconv.Itoa(id)) }

// chooseAlone prevents others from choosing until the file is closed: between a choice and its shared lock a user looks free.
func chooseAlone() (*os.File, error) {
	if err := os.MkdirAll(volatileDir, 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(usersDir, privateDir); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	if err := ours(usersDir, nothing); err != nil {
		return nil, err
	}
	return openLocked(usersDir, os.O_RDONLY, syscall.LOCK_EX)
}

// usersSeen returns the users that are in use although no lock may show it: users of processes left by a killed supervisor, and
// of directories that containers share or that are not removed yet.
func (h *Host) usersSeen() map[int]bool {
	seen := usersOfProcesses()
	for _, dir := range h.instances() {
		if info, err := os.Lstat(dir); err == nil {
			seen[int(info.Sys().(*syscall.Stat_t).Gid)] = true
		}
	}
	return seen
}

// nameless are the users for brokers and installations: at least two.
var nameless = sync.OnceValues(findNameless)

func findNameless() (free []int, err error) {
	taken, err := listed("passwd", "group")
	if err != nil {
		return nil, err
	}
	for id := firstUser; id <= lastUser; id++ {
		_, errU := user.LookupId(strconv.Itoa(id))
		_, errG := user.LookupGroupId(strconv.Itoa(id))
		if errU != nil && errG != nil && !taken[id] {
			free = append(free, id)
		}
	}
	if len(free) < 2 {
		return nil, fmt.Errorf("brokers run as users without a name, and those from %d to %d have one on this machine", firstUser, lastUser)
	}
	return free, nil
}

// patience is the time limit for a directory service.
const patience = 20 * time.Second

// listed returns the numbers that getent finds in the machine's databases: a program without the C library sees only files, but
// users may be kept elsewhere. Without getent there is no other place.
func listed(databases ...string) (map[int]bool, error) {
	getent, err := exec.LookPath("getent")
	if err != nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found := map[int]bool{}
	for _, database := range databases {
		args := []string{database}
		for id := firstUser; id <= lastUser; id++ {
			args = append(args, strconv.Itoa(id))
		}
		c := exec.CommandContext(ctx, getent, args...)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a terminal's Ctrl-C would end it before this process knows that it is to end
		text, err := c.Output()
		if ended, ok := errors.AsType[*exec.ExitError](err); err != nil && !(ok && ended.ExitCode() == keysNotFound) {
			return nil, fmt.Errorf("ask which users this machine has: getent %s: %w", database, err)
		}
		for line := range strings.Lines(string(text)) { // name:password:number:…
			if fields := strings.Split(line, ":"); len(fields) > 2 {
				id, _ := strconv.Atoi(fields[2])
				found[id] = true
			}
		}
	}
	return found, nil
}

// keysNotFound is getent's exit code if it doesn't find every key.
const keysNotFound = 2
