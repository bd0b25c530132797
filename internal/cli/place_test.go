package cli_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

// sshHosts starts an SSH server of the test's own on the loopback and puts an ssh on the path that knows these names for it: h1 and h2,
// which let it in, stranger, for which it has no key, unknown, whose key it doesn't know, other, of another architecture, and down, where
// nobody listens. It returns the folder for temporary files on these hosts.
func sshHosts(t *testing.T) (temporary string) {
	t.Helper()
	h, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	const sshd = "/usr/sbin/sshd"
	if err := h.Meet(t.Context(), provision.Need{Command: sshd, Apt: []string{"openssh-server"}}, provision.Need{Command: "ssh", Apt: []string{"openssh-client"}}); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "ssh-") // short, and free of what a shell would take for something else
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	temporary = filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	public := map[string]string{}
	for _, key := range []string{"host", "user", "stranger", "other"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dir, key+".pub"))
		if err != nil {
			t.Fatal(err)
		}
		public[key] = string(text)
	}
	_ = os.MkdirAll("/run/sshd", 0o755) // which sshd wants where it is started by root
	address, port := freeAddress(t)
	_, closed := freeAddress(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, mode os.FileMode, text string, args ...any) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, fmt.Appendf(nil, text, args...), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	keys := write("authorized", 0o600, "%srestrict,command=\"echo Linux riscv64\" %s", public["user"], public["other"])
	known := write("known", 0o600, "[127.0.0.1]:%s %s", port, public["host"])
	config := write("sshd", 0o600, "ListenAddress %s\nHostKey %s/host\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\nAllowTcpForwarding no\nPermitRootLogin yes\nSetEnv %s=1 TMPDIR=%s\n",
		address, dir, keys, asProgram, temporary)
	client := write("ssh-config", 0o600, "Host *\n HostName 127.0.0.1\n User %s\n IdentitiesOnly yes\n StrictHostKeyChecking yes\nHost h1 h2\n IdentityFile %s/user\nHost unknown\n IdentityFile %s/user\n UserKnownHostsFile /dev/null\nHost stranger\n IdentityFile %s/stranger\nHost other\n IdentityFile %s/other\nHost down\n Port %s\nHost *\n Port %s\n UserKnownHostsFile %s\n",
		me.Username, dir, dir, dir, dir, closed, port, known)
	real, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	write("bin/ssh", 0o700, "#!/bin/sh\nexec %s -F %s \"$@\"\n", real, client)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("SSH_AUTH_SOCK", "")
	server := exec.Command(sshd, "-D", "-e", "-f", config)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	until(t, "sshd listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return temporary
}

// freeAddress is one of the loopback where no server listens.
func freeAddress(t *testing.T) (address, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address = l.Addr().String()
	_, port, _ = net.SplitHostPort(address)
	return address, port
}

// left is what a host still has of agents: files, and processes.
func left(t *testing.T, temporary string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(temporary, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commandLines(t) {
		if strings.Contains(" "+command, " "+temporary) {
			list = append(list, command)
		}
	}
	return append(list, files...)
}

func placedRun(t *testing.T, hosts, duration, path string) *process {
	t.Helper()
	return start(t, "run", "--broker", "nats", "--set", "topics=2", "--rate", "500", "--set", "warmup.for=0s", "--duration", duration,
		"--agents", "ssh:"+hosts, "--control", "127.0.0.1:0", "--store", path)
}

func TestAgentsArePlacedBySSHAndNothingOfThemStays(t *testing.T) {
	temporary := sshHosts(t)
	path := filepath.Join(t.TempDir(), "s.db")
	run := placedRun(t, "h1,h2", "1s", path)
	if code := exitCode(t, run.Cmd); code != 0 && code != 5 {
		t.Fatalf("exit code %d", code)
	}
	r := records(t, path)[0]
	if b := r.Result.Books; b.Due != 500 || b.Received != 500 || !b.Balanced() || len(r.Agents) != 2 || !strings.HasPrefix(r.Agents[0].Name, "h1 on ") || !strings.HasPrefix(r.Agents[1].Name, "h2 on ") {
		t.Errorf("%+v, %+v", b, r.Agents)
	}
	if rest := left(t, temporary); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}

	run = placedRun(t, "h1,h2", "60s", path)
	until(t, "the agents work", func() bool {
		return strings.Contains(run.text(), "measuring") || len(left(t, temporary)) >= 2 && brokers(t) == 1
	})
	_ = run.Process.Kill()
	began := time.Now()
	until(t, "the agents have cleaned up", func() bool { return len(left(t, temporary)) == 0 })
	t.Logf("nothing was left %s after the coordinator was killed", time.Since(began))
	until(t, "no broker is left", func() bool { return brokers(t) == 0 })
}

// A network that swallows everything tells neither side that the connection is gone. Who noticed it here would end ssh, so it stands
// still as well.
func TestAPlacedAgentEndsWhenItsCoordinatorFallsSilent(t *testing.T) {
	temporary, path := sshHosts(t), filepath.Join(t.TempDir(), "s.db")
	placedRun(t, "h1", "60s", path)
	until(t, "the agent works", func() bool { return len(left(t, temporary)) > 0 && brokers(t) == 1 })
	var silent []string
	for pid, command := range commandLines(t) {
		if strings.Contains(command, " -F "+filepath.Join(filepath.Dir(temporary), "ssh-config")) || strings.Contains(command, " --store "+path) {
			silent = append(silent, command)
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(silent) != 3 { // the process that was started, the one that works, and ssh
		t.Fatalf("stopped: %q", silent)
	}
	until(t, "the agent has cleaned up", func() bool { return len(left(t, temporary)) == 0 })
}

// commandLines are those of all processes, by their number.
func commandLines(t *testing.T) map[int]string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	list := map[int]string{}
	for _, path := range files {
		if text, err := os.ReadFile(path); err == nil { // else it has ended
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			list[pid] = strings.ReplaceAll(string(text), "\x00", " ")
		}
	}
	return list
}

// holding are the files below a folder that hold a text.
func holding(t *testing.T, folder, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The broker is attached, and its agent placed: both secrets cross processes. --keep leaves all that a run has written.
func TestNoPasswordOrTokenIsOnACommandLineOrInAFile(t *testing.T) {
	const password = "s3cret-of-the-broker"
	t.Setenv("BROKER_PASSWORD", password)
	let := theUps(t, "nats", "--tls", "on", "--user", "alice", "--password-env", "BROKER_PASSWORD") // whose configuration holds it
	home, err := ownDir("secrets")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	t.Setenv("BROKERMARK_HOME", home)
	temporary := sshHosts(t)
	results := t.TempDir()
	for name, more := range map[string][]string{
		"an agent on another host":  {"--agents", "ssh:h1", "--control", "127.0.0.1:0"},
		"consumers of their own":    {"--set", "consumersApart=true", "--keep"},
		"everything in one process": {"--keep"},
	} {
		t.Run(name, func(t *testing.T) {
			args := slices.Concat([]string{"run", "--broker", "nats", "--rate", "500", "--set", "warmup.for=0s", "--duration", "1s", "--store", filepath.Join(results, "s.db")}, let, more)
			run := start(t, args...)
			seen := map[string]bool{}
			ended := make(chan int, 1)
			go func() { ended <- exitCode(t, run.Cmd) }()
			for code := -1; code < 0; time.Sleep(5 * time.Millisecond) {
				select {
				case code = <-ended:
					if code != 0 && code != 5 {
						t.Fatalf("exit code %d", code)
					}
				default:
				}
				for _, command := range commandLines(t) {
					seen[command] = true
				}
			}
			secrets := []string{password}
			if token, err := os.ReadFile(filepath.Join(home, "fleet", "token")); err == nil {
				secrets = append(secrets, strings.TrimSpace(string(token)))
			}
			if len(secrets) < 2 && more[0] == "--agents" || len(seen) < 2 {
				t.Fatalf("%d secrets, %d command lines", len(secrets), len(seen))
			}
			for _, secret := range secrets {
				for command := range seen {
					if strings.Contains(command, secret) {
						t.Errorf("on a command line: %s", command)
					}
				}
				files := slices.Concat(holding(t, home, secret), holding(t, results, secret), holding(t, temporary, secret))
				if len(files) > 0 && !slices.Equal(files, []string{filepath.Join(home, "fleet", "token")}) || strings.Contains(run.text(), secret) {
					t.Errorf("in files: %v", files)
				}
			}
		})
	}
}

func TestAHostThatTakesNoAgentIsNamed(t *testing.T) {
	temporary := sshHosts(t)
	for host, want := range map[string]string{
		"down":     "agent on down: it can't be reached (ssh: connect to host 127.0.0.1 port ",
		"stranger": "agent on stranger: it requires a password; give your ssh a key that the host knows (",
		"unknown":  "agent on unknown: its key is not known here, or another one than before; connect once by hand with ssh unknown (",
		"other":    "agent on other: that host is linux/riscv64, and this program is for linux/",
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		hosts := host
		if host == "other" { // beside one that could have worked
			hosts = "h1," + host
		}
		run := placedRun(t, hosts, "1s", path)
		if code := exitCode(t, run.Cmd); code != 3 || !strings.Contains(run.text(), want) || len(records(t, path)) > 0 {
			t.Errorf("%s: exit code %d, %s; want %q", host, code, run.text(), want)
		}
	}
	if rest := left(t, temporary); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	for _, hosts := range []string{"", "h1,", "-oProxyCommand=x", "h1 h2", "h'1"} {
		for _, command := range []string{"run", "check"} {
			if r := brokermark(t, command, "--broker", "nats", "--set", "topics=2", "--agents", "ssh:"+hosts, "--store", filepath.Join(t.TempDir(), "s.db")); r.code != 2 || !strings.Contains(r.err, "allowed are names of ssh") {
				t.Errorf("%s %q: exit code %d, %s", command, hosts, r.code, r.err)
			}
		}
	}
}
