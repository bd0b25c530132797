package provision

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// asRoot skips a test where nothing can run as another user.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can start processes as other users")
	}
}

// succeed runs a command for each argument in a node's place, and returns the arguments with which it succeeded.
func succeed(t *testing.T, n *Node, command string, args ...string) []string {
	t.Helper()
	script := `for f in "$@"; do (` + command + `) >/dev/null 2>&1 && echo "$f"; done; true`
	said, err := n.Run(t.Context(), Command{Path: "sh", Args: append([]string{"-c", script, "sh"}, args...)})
	ok(t, err)
	return strings.Fields(said)
}

func TestNoInstanceCanReadOrChangeWhatIsAnothers(t *testing.T) {
	asRoot(t)
	own, other := start(t, newHost(t), Options{TLS: true}), start(t, newHost(t), Options{TLS: true})
	var users, files []string
	for _, in := range []*Instance{own, other} {
		user, pid, _ := strings.Cut(ask(t, in, 1, "who"), " ")
		users = append(users, user)
		ask(t, in, 1, "write")
		n, tls := in.cluster.Nodes[0], in.TLSFiles()
		files = []string{tls.CA, tls.Key, tls.ClientKey, filepath.Join(n.Data, "segment"), n.Dir, "/proc/" + pid + "/environ"}
		if in == own {
			const read = `[ -d "$f" ] && ls "$f" || cat "$f"`
			if got, want := succeed(t, n, read, files...), files[:5]; !slices.Equal(got, want) {
				t.Errorf("it can read %q of its own, want %q", got, want)
			}
		}
	}
	if users[0] == users[1] || users[0] == "0" || users[1] == "0" {
		t.Errorf("two instances run as the users %q", users)
	}
	n := own.cluster.Nodes[0]
	files = append(files, other.cluster.dir, other.LogPath(1), filepath.Join(other.cluster.dir, stateFile))
	if got := succeed(t, n, `[ -d "$f" ] && ls "$f" || cat "$f"`, files...); len(got) > 0 {
		t.Errorf("it can read %q of another instance", got)
	}
	tls := own.TLSFiles()
	if got := succeed(t, n, `echo >>"$f" || mv "$f" "$f.moved" || touch "$f.new"`, tls.CA, tls.Cert, tls.Key, own.cluster.dir); len(got) > 0 {
		t.Errorf("it can change %q, which root reads again", got)
	}
}

func TestNoBrokerGainsRightsFromAProgramThatItStarts(t *testing.T) {
	asRoot(t)
	in := start(t, newHost(t), Options{})
	said, err := in.cluster.Nodes[0].Run(t.Context(), Command{Path: "cat", Args: []string{"/proc/self/status"}})
	ok(t, err)
	_, pid, _ := strings.Cut(ask(t, in, 1, "who"), " ")
	program, err := os.ReadFile("/proc/" + pid + "/status")
	ok(t, err)
	for what, status := range map[string]string{"a command": said, "a program of this binary": string(program)} {
		if !strings.Contains(status, "NoNewPrivs:\t1\n") {
			t.Errorf("%s can gain rights:\n%s", what, status)
		}
	}
}

// inUseNow reports whether a process holds the user.
func inUseNow(t *testing.T, user int) bool {
	t.Helper()
	f, err := openLocked(userFile(user), os.O_RDONLY, exclusiveNow)
	if err == nil {
		f.Close()
	} else if !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Fatal(err)
	}
	return err != nil
}

func TestAUserIsAnInstancesUntilNothingOfItIsLeft(t *testing.T) {
	asRoot(t)
	h := newHost(t)
	in := start(t, h, Options{})
	user := in.cluster.user
	ok(t, in.Detach())
	in.user.Close() // as if the tool had ended
	if !inUseNow(t, user) {
		t.Error("the user of a running broker can be given to another")
	}
	again, err := h.Attach(in.ID())
	ok(t, err)
	if again.cluster.user != user {
		t.Errorf("attached, it has the user %d, not %d", again.cluster.user, user)
	}
	ok(t, again.Kill(t.Context(), 1))
	if !inUseNow(t, user) {
		t.Error("the user of a broker that will be restarted can be given to another")
	}
	ok(t, again.Restart(t.Context(), 1))
	if got, _, _ := strings.Cut(ask(t, again, 1, "who"), " "); got != strconv.Itoa(user) {
		t.Errorf("restarted, it runs as %s", got)
	}
	ok(t, again.Stop(t.Context()))
	if inUseNow(t, user) {
		t.Error("the user of an instance that is gone is still taken")
	}
}

func TestNoTwoInstancesAtOnceGetOneUser(t *testing.T) {
	asRoot(t)
	hosts := []*Host{newHost(t), newHost(t)}
	free, err := nameless()
	ok(t, err)
	left := map[int]bool{free[0]: true} // that of installations
	for _, id := range free[1:30] {     // of instances in other containers, say
		dir := filepath.Join(hosts[0].runs(), fmt.Sprint("bm-left-", id))
		ok(t, errors.Join(os.Mkdir(dir, 0o700), os.Lchown(dir, 0, id)))
		left[id] = true
	}
	seen := map[int]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			user, lock, err := hosts[i%2].takeUser()
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { lock.Close() })
			mu.Lock()
			defer mu.Unlock()
			if seen[user] || i%2 == 0 && left[user] || user == free[0] {
				t.Errorf("user %d was given, which another has", user)
			}
			seen[user] = true
		})
	}
	all.Wait()
}

// What is kept isn't for the next one who gets the user's number.
func TestAKeptDirectoryIsShut(t *testing.T) {
	asRoot(t)
	h := newHost(t)
	for what, end := range map[string]func(*Instance){
		"stopped": func(in *Instance) { ok(t, in.Stop(t.Context())) },
		"its tool was killed": func(in *Instance) {
			in.members[0].current().words.Close()
			<-in.members[0].current().ended
		},
	} {
		in := start(t, h, Options{Keep: true})
		end(in)
		eventually(t, "the directory is shut: "+what, func() bool {
			info, err := os.Lstat(in.cluster.dir)
			ok(t, err)
			s := info.Sys().(*syscall.Stat_t)
			return info.Mode().Perm() == 0o700 && s.Uid == 0 && s.Gid == 0
		})
	}
}

func TestUsersThatOnlyADirectoryServiceKnowsAreNotTaken(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		name, getent string
		is           string
	}{
		{"some are known", fmt.Sprintf("[ $1 = passwd ] && echo mia:*:%d:100:Mia:/home/mia:/bin/sh; [ $1 = group ] && echo staff:*:%d:mia; exit 2", firstUser, firstUser+7), ""},
		{"all are known", `shift; for id in "$@"; do echo u$id:*:$id:; done`, "have one on this machine"},
		{"it doesn't answer", "exit 1", "getent passwd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok(t, os.WriteFile(filepath.Join(bin, "getent"), []byte("#!/bin/sh\n"+c.getent+"\n"), 0o755))
			free, err := findNameless()
			if c.is != "" {
				if err == nil || !strings.Contains(err.Error(), c.is) {
					t.Errorf("%v, %v", free, err)
				}
				return
			}
			ok(t, err)
			for _, id := range []int{firstUser, firstUser + 7} {
				if slices.Contains(free, id) {
					t.Errorf("%d is somebody's", id)
				}
			}
			if len(free) < 90 || free[0] < firstUser || free[len(free)-1] > lastUser {
				t.Errorf("free are %v", free)
			}
		})
	}
}

// A terminal's Ctrl-C would end it, and with it every repetition before this process has seen the signal.
func TestWhatAsksForUsersGetsNoSignalOfATerminal(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\necho \"x:x:$(ps -o pgid= -p $$ | tr -d ' '):\"\n"
	ok(t, os.WriteFile(filepath.Join(bin, "getent"), []byte(script), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	groups, err := listed("passwd")
	ok(t, err)
	if len(groups) != 1 || groups[syscall.Getpgrp()] || groups[0] {
		t.Errorf("it is in the process groups %v, and this process in %d", groups, syscall.Getpgrp())
	}
}
