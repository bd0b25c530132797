package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// remoteScript runs on the host. It prints the system, reads this program from standard input into a private folder, and starts an
// agent whose control connection uses the standard streams. The agent removes the folder when it starts; if it never does, the
// shell removes it.
const remoteScript = `umask 077; uname -sm; read -r size || exit 1; d=$(mktemp -d "${TMPDIR:-/tmp}/brokermark-XXXXXX") || exit 1
trap "rm -rf \"$d\"" EXIT; trap "exit 1" HUP INT TERM
head -c "$size" >"$d/brokermark"; [ "$(wc -c <"$d/brokermark")" -eq "$size" ] || exit 1
chmod 700 "$d/brokermark" && echo copied && "$d/brokermark" agent --placed "$d" --join "$1" --name "$2"`

// enterTime bounds the login and the first answer, stallTime each piece of the program's copy, and leaveTime each attempt to end
// ssh.
const (
	enterTime = 30 * time.Second
	stallTime = 30 * time.Second
	leaveTime = 3 * time.Second
)

// Placed are the agents that this process has started on other hosts. They end with it and leave nothing behind.
type Placed struct {
	agents []*placed
	closed chan struct{}
}

// placed is one of these agents: the ssh that runs it. Its control connection goes through the standard streams of ssh.
type placed struct {
	host   string
	ssh    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr tail
	ended  chan struct{} // closed when ssh has ended

	mu      sync.Mutex
	timeout string // what the host took too long for
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:@\[\]-]*$`)

// CheckHosts refuses hosts that ssh would take for options or commands.
func CheckHosts(hosts []string) error {
	for _, h := range hosts {
		if !hostName.MatchString(h) {
			return fmt.Errorf("host %q: allowed are names of ssh, such as bench-1 or user@bench-1", h)
		}
	}
	return nil
}

// Place starts an agent on each host with the user's own ssh, which has to log in without a password. It calls failed if an agent
// ends before Close.
func Place(ctx context.Context, hosts []string, control Address, token string, say func(string, ...any), failed func(error)) (*Placed, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &Placed{closed: make(chan struct{})}
	errs := make([]error, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		s := &placed{host: host, ended: make(chan struct{})}
		p.agents = append(p.agents, s)
		all.Go(func() { errs[i] = s.place(ctx, program, control, token, say) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		for _, s := range p.agents {
			_ = s.in.Close() // which ends the agent: there is no run that frees it
		}
		p.Close()
		return nil, err
	}
	for _, s := range p.agents {
		go func() {
			<-s.ended
			select {
			case <-p.closed:
			default:
				failed(s.failure("the agent ended"))
			}
		}()
	}
	return p, nil
}

// place starts ssh, copies the program and connects the agent to the control server.
func (s *placed) place(ctx context.Context, program string, control Address, token string, say func(string, ...any)) error {
	s.ssh = exec.Command("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=5",
		"-o", "ForwardAgent=no", "-o", "ClearAllForwardings=yes", s.host,
		"sh -c '"+remoteScript+"' sh '"+control.String()+"' '"+s.host+"'")
	s.ssh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C is for this process, which ends agents in order
	s.ssh.Stderr = &s.stderr
	in, err := s.ssh.StdinPipe()
	out, errOut := s.ssh.StdoutPipe()
	s.in, s.out = in, bufio.NewReader(out)
	if err := errors.Join(err, errOut, s.ssh.Start()); err != nil {
		close(s.ended)
		return fmt.Errorf("ssh, which places agents, can't be started: %w", err)
	}
	interrupted := context.AfterFunc(ctx, s.kill)
	defer interrupted()
	alarm := time.AfterFunc(enterTime, func() { s.timeOut("it accepted no login within %s", enterTime) })
	defer alarm.Stop()
	err = s.copy(program, alarm, say)
	if err == nil {
		err = s.connect(control, token)
	}
	if err == nil {
		return nil
	}
	s.kill()
	s.wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if whole, ok := errors.AsType[errWhole](err); ok {
		return whole.error
	}
	return s.failure(err.Error())
}

func (s *placed) wait() {
	_ = s.ssh.Wait() // why it ended is in its output
	close(s.ended)
}

// errWhole holds an error whose text is a whole sentence, to which the host's name and what it printed would add nothing.
type errWhole struct{ error }

// copy sends the program to a host of the same system and architecture.
func (s *placed) copy(program string, alarm *time.Timer, say func(string, ...any)) error {
	line, err := s.out.ReadString('\n')
	if err != nil {
		return errors.New("it can't be reached")
	}
	if there, here := systemOf(strings.TrimSpace(line)), runtime.GOOS+"/"+runtime.GOARCH; there != here {
		return errWhole{fmt.Errorf("agent on %s: that host is %s, and this program is for %s: start an agent of its own there, as run --agents N says", s.host, there, here)}
	}
	file, err := os.Open(program)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	alarm.Stop()
	alarm = time.AfterFunc(stallTime, func() { s.timeOut("it took nothing of the program for %s", stallTime) })
	defer alarm.Stop()
	say("copying brokermark (%d MB) to %s", info.Size()/1e6, s.host)
	if _, err := fmt.Fprintf(s.in, "%d\n", info.Size()); err != nil {
		return errors.New("it took no program")
	}
	for {
		_, err := io.CopyN(s.in, file, 256<<10)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.New("it took only a part of the program")
		}
		alarm.Reset(stallTime)
	}
	if line, err = s.out.ReadString('\n'); err != nil || line != "copied\n" {
		return errors.New("it kept no copy of the program")
	}
	return nil
}

// connect sends the agent the token, and copies data between it and the control server.
func (s *placed) connect(control Address, token string) error {
	conn, err := net.DialTimeout("tcp", control.hostPort(), enterTime)
	if err == nil {
		_, err = io.WriteString(s.in, token+"\n")
	}
	if err != nil {
		return errWhole{fmt.Errorf("agent on %s: its way to the control server: %w", s.host, err)}
	}
	go func() {
		_, _ = io.Copy(s.in, conn)
		_ = s.in.Close() // which ends the agent
	}()
	go func() {
		_, _ = io.Copy(conn, s.out)
		_ = conn.Close()
		s.wait()
	}()
	return nil
}

// timeOut kills ssh. why becomes the text of the failure.
func (s *placed) timeOut(why string, args ...any) {
	s.mu.Lock()
	s.timeout = fmt.Sprintf(why, args...)
	s.mu.Unlock()
	s.kill()
}

func (s *placed) kill() { _ = s.ssh.Process.Kill() }

// failure returns an error with what went wrong on the host and the last line that ssh or the host printed.
func (s *placed) failure(what string) error {
	s.mu.Lock()
	if s.timeout != "" {
		what = s.timeout
	}
	s.mu.Unlock()
	said := s.stderr.last()
	switch {
	case strings.Contains(said, "Permission denied ("):
		what = "it requires a password; give your ssh a key that the host knows"
	case strings.Contains(said, "Host key verification failed"):
		what = "its key is not known here, or another one than before; connect once by hand with ssh " + s.host
	}
	if said != "" {
		what += " (" + said + ")"
	}
	return fmt.Errorf("agent on %s: %s", s.host, what)
}

// Close ends the agents within three times leaveTime.
func (p *Placed) Close() {
	close(p.closed)
	var all sync.WaitGroup
	for _, s := range p.agents {
		all.Go(s.close)
	}
	all.Wait()
}

// close waits for ssh to end: by itself, since the run has freed the agent; then because its input ends; then because it is killed.
func (s *placed) close() {
	steps := []func(){func() {}, func() { _ = s.in.Close() }, s.kill}
	for _, step := range steps {
		step()
		select {
		case <-s.ended:
			return
		case <-time.After(leaveTime):
		}
	}
}

// systemOf translates the output of uname -sm to GOOS/GOARCH.
func systemOf(uname string) string {
	system, machine, _ := strings.Cut(strings.ToLower(uname), " ")
	goarch := map[string]string{"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "armv7l": "arm"}
	return system + "/" + cmp.Or(goarch[machine], machine)
}

// tail keeps the end of a program's output. Several goroutines may use it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 4096
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(b), nil
}

func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	return strings.TrimPrefix(string(bytes.TrimSpace(lines[len(lines)-1])), "brokermark: ")
}

// Streams is the control connection of a placed agent, over its standard streams.
type Streams struct {
	in    *bufio.Reader
	out   io.Writer
	ended func()
	used  atomic.Bool
}

// Begin starts a placed agent: it removes dir, which is the folder that remoteScript has copied program to, and reads the token from
// in. ended is called when the coordinator has closed the connection.
func Begin(dir, program string, in io.Reader, out io.Writer, ended func()) (*Streams, string, error) {
	if !placedFolder.MatchString(filepath.Base(dir)) || !same(dir, filepath.Dir(program)) {
		return nil, "", fmt.Errorf("%s is no folder that a program was placed in: run --agents uses --placed itself", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, "", err
	}
	s := &Streams{in: bufio.NewReader(in), out: out, ended: ended}
	line, err := s.in.ReadString('\n')
	if err != nil {
		return nil, "", errors.New("no token arrived: the coordinator is gone")
	}
	token, err := TokenOf("standard input", line)
	return s, strings.TrimSpace(token), err
}

// placedFolder matches the names that remoteScript makes.
var placedFolder = regexp.MustCompile(`^brokermark-[0-9A-Za-z]{6}$`)

// same reports whether two paths name one folder.
func same(a, b string) bool {
	one, err := os.Lstat(a)
	two, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(one, two)
}

// Dial returns the connection. It works once: the second call, after the connection was lost, ends the agent.
func (s *Streams) Dial(string, string) (net.Conn, error) {
	if s.used.Swap(true) {
		s.ended()
		return nil, errors.New("the connection to the coordinator has ended")
	}
	near, far := net.Pipe() // which can be given deadlines
	go func() {
		_, _ = io.Copy(far, s.in)
		_ = far.Close()
		s.ended()
	}()
	go func() { _, _ = io.Copy(s.out, far) }()
	return near, nil
}
