package cli_test

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// asControl makes this binary a control server of the user's own, whose token is in the directory that the variable names. It ends with its
// standard input.
const asControl = "BROKERMARK_CLI_TEST_AS_CONTROL"

func serveControl(dir string) {
	s, _, err := usersServer(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "at", s.ClientURL())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// usersServer starts a NATS server as a user may have one. Its token is in a file in dir.
func usersServer(dir string) (s *server.Server, token string, err error) {
	token = nuid.Next()
	s, err = server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: token, NoLog: true, NoSigs: true})
	err = errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(fleet.TokenFile(dir), []byte(token+"\n"), 0o600))
	if err != nil {
		return nil, "", err
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		return nil, "", errors.New("the NATS server did not start within a minute")
	}
	return s, token, nil
}

// stages of a repetition on agents, and for how long after its begin something may happen. Each is seen by what crosses the control
// channel.
var stages = []struct {
	name  string
	lasts time.Duration
}{
	{"waiting", 1500 * time.Millisecond},
	{"set-up", 100 * time.Millisecond},
	{"barrier", 500 * time.Millisecond},
	{"warm-up", 300 * time.Millisecond},
	{"measuring", 800 * time.Millisecond},
	{"drain", 20 * time.Millisecond},
	{"fetching", 3 * time.Millisecond},
	{"storing", 50 * time.Millisecond},
}

// crossing is what the test reads of orders and beats.
type crossing struct {
	Order     *struct{ Do string }
	Measuring int64
	Sent      bool
	Answer    *struct{ Outcome json.RawMessage }
}

// observer says when a stage begins, again for each repetition. It reads the control channel as a user's own server lets all who have the token.
type observer struct {
	mu     sync.Mutex
	agent  string // one of them
	last   string // stage
	begins chan string
}

func observe(t *testing.T, server, token string) *observer {
	t.Helper()
	o := &observer{begins: make(chan string, 100)}
	nc, err := nats.Connect(server, nats.Token(token))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if _, err := nc.Subscribe("brokermark.run.*.*.*", o.see); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *observer) see(m *nats.Msg) {
	o.mu.Lock()
	defer o.mu.Unlock()
	agent, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, "brokermark.run."), ".")
	if o.agent = cmp.Or(o.agent, agent); agent != o.agent {
		return
	}
	var c crossing
	if json.NewDecoder(flate.NewReader(bytes.NewReader(m.Data))).Decode(&c) != nil {
		return // a piece of something large
	}
	stage := o.last
	switch {
	case c.Order != nil && c.Order.Do == "prepare":
		stage = "set-up"
	case c.Order != nil && c.Order.Do == "run":
		stage = "barrier"
	case c.Order != nil:
		stage = "storing"
	case c.Answer != nil && c.Answer.Outcome != nil:
		stage = "fetching"
	case c.Sent && o.last == "warm-up":
		stage = "drain"
	case c.Measuring != 0 && o.last == "barrier":
		stage = "warm-up"
	}
	if stage != o.last {
		o.last = stage
		o.begins <- stage
	}
}

// begun waits for a stage of a repetition, 0 or 1; false: the run ended before.
func (o *observer) begun(stage string, repetition int, over <-chan struct{}) bool {
	if stage == "waiting" {
		return true
	}
	seen := stage
	if stage == "measuring" {
		seen = "warm-up"
	}
	for {
		select {
		case s := <-o.begins:
			if s != seen {
				continue
			}
			if repetition--; repetition >= 0 {
				continue
			}
			if stage == "measuring" {
				time.Sleep(300 * time.Millisecond) // the warm-up's length
			}
			return true
		case <-over:
			return false
		}
	}
}

// scene is a run on two agents with everything around it, each process with a network of its own to the control server.
type scene struct {
	place
	control, run, left, right *process
	runNet, leftNet, rightNet *testkit.Proxy
	observer                  *observer
	over                      chan struct{} // closed when the run has ended
	code                      int           // its exit code
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{place: newPlace(t), over: make(chan struct{})}
	env := []string{"BROKERMARK_HOME=" + s.dir, "TMPDIR=" + s.temp()}
	controlDir := filepath.Join(s.dir, "fleet")
	s.control = startWith(t, append(env, asControl+"="+controlDir))
	var at fleet.Address
	until(t, "the control server listens", func() bool {
		_, address, found := strings.Cut(s.control.text(), "at ")
		if !found || !strings.HasSuffix(address, "\n") {
			return false
		}
		var err error
		at, err = fleet.ParseAddress(strings.TrimSpace(address))
		return err == nil
	})
	tokenFile := fleet.TokenFile(controlDir)
	token, err := fleet.ReadToken(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	s.observer = observe(t, at.Server, token)
	by := func(net **testkit.Proxy) string {
		*net = testkit.NewProxy(t, strings.TrimPrefix(at.Server, "nats://"))
		a := at
		a.Server = "nats://" + (*net).Addr
		return a.String()
	}
	program := append(env, asProgram+"=1")
	s.run = startWith(t, program, "run", "--broker", "nats", "--set", "topics=2", "--agents", "2", "--control", by(&s.runNet), "--token-file", tokenFile,
		"--agents-wait", "8s", "--rate", "400", "--set", "warmup.for=300ms", "--duration", "1s", "--set", "drain=5s", "--repeat", "2", "--store", s.store)
	s.left = startWith(t, program, "agent", "--join", by(&s.leftNet), "--token-file", tokenFile, "--name", "left")
	s.right = startWith(t, program, "agent", "--join", by(&s.rightNet), "--token-file", tokenFile, "--name", "right")
	go func() {
		s.code = exitCode(t, s.run.Cmd)
		close(s.over)
	}()
	return s
}

// family is a process and its children: the one that was started only waits for the one that works.
func family(p *process) []int {
	pid := strconv.Itoa(p.Process.Pid)
	text, _ := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	pids := []int{p.Process.Pid}
	for _, child := range strings.Fields(string(text)) {
		n, _ := strconv.Atoi(child)
		command, _ := os.ReadFile("/proc/" + child + "/cmdline")
		if strings.Contains(string(command), "__watched") {
			pids = append(pids, n)
		}
	}
	return pids
}

// accident is what happens to whom.
type accident struct {
	who  string        // agent, coordinator or control server
	what string        // killed, stopped or cut off
	for_ time.Duration // not of killed
	strike,
	undo func(s *scene)
}

// Away for brief is survived, away for long is not.
const (
	brief = 1500 * time.Millisecond
	long  = 7 * time.Second
)

var accidents = func() (list []accident) {
	victims := map[string]func(s *scene) []int{
		"agent":          func(s *scene) []int { return family(s.left) },
		"coordinator":    func(s *scene) []int { return family(s.run) },
		"control server": func(s *scene) []int { return family(s.control) },
	}
	nets := map[string]func(s *scene) []*testkit.Proxy{
		"agent":          func(s *scene) []*testkit.Proxy { return []*testkit.Proxy{s.leftNet} },
		"coordinator":    func(s *scene) []*testkit.Proxy { return []*testkit.Proxy{s.runNet} },
		"control server": func(s *scene) []*testkit.Proxy { return []*testkit.Proxy{s.leftNet, s.rightNet, s.runNet} },
	}
	for _, who := range slices.Sorted(maps.Keys(victims)) {
		send := func(sig syscall.Signal) func(s *scene) {
			return func(s *scene) {
				for _, pid := range victims[who](s) {
					_ = syscall.Kill(pid, sig) // it may have ended
				}
			}
		}
		each := func(do func(*testkit.Proxy)) func(s *scene) {
			return func(s *scene) {
				for _, n := range nets[who](s) {
					do(n)
				}
			}
		}
		list = append(list, accident{who, "killed", 0, send(syscall.SIGKILL), nil})
		for _, d := range []time.Duration{brief, long} {
			list = append(list,
				accident{who, "stopped", d, send(syscall.SIGSTOP), send(syscall.SIGCONT)},
				accident{who, "cut off", d, each((*testkit.Proxy).Cut), each((*testkit.Proxy).Heal)},
			)
		}
	}
	return list
}()

var (
	lostBy = regexp.MustCompile(`agent (left|right) on .* was lost: (it was not heard for|it does not answer|it can't be told|its clients have ended|it did not end)`)
	absent = regexp.MustCompile(`[01] of 2 agents came within 8s`)
)

// Whichever process is killed, stands still or is cut off, at any stage: nothing hangs, no process and no directory is left, no finished
// record is lost, and the run says whom it lost. BROKERMARK_MOMENTS says how many moments.
func TestNoMomentToDieIsWrong(t *testing.T) {
	testkit.Long(t)
	n, err := strconv.Atoi(cmp.Or(os.Getenv("BROKERMARK_MOMENTS"), "120"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var pairs []func(t *testing.T)
	for i := range n { // every accident at every stage
		e, at := accidents[i%len(accidents)], stages[(i/len(accidents)+i)%len(stages)]
		repetition, after := random.IntN(2), time.Duration(random.Int64N(int64(at.lasts)))
		pairs = append(pairs, func(t *testing.T) { e.happen(t, at.name, repetition, after) })
	}
	for i, one := range pairs {
		e, at := accidents[i%len(accidents)], stages[(i/len(accidents)+i)%len(stages)]
		t.Run(fmt.Sprintf("%s, %s %s %s", at.name, e.who, e.what, e.for_), func(t *testing.T) {
			t.Parallel()
			one(t)
		})
	}
}

func (e accident) happen(t *testing.T, stage string, repetition int, after time.Duration) {
	s := newScene(t)
	there := s.observer.begun(stage, repetition, s.over)
	time.Sleep(after)
	finished := s.ended(t)
	e.strike(s)
	struck := time.Now()
	if e.undo != nil {
		time.Sleep(e.for_)
		e.undo(s)
	}
	select {
	case <-s.over:
	case <-time.After(80 * time.Second):
		t.Fatalf("the run did not end within 80 s; it said:\n%s", s.run.text())
	}
	s.judge(t, e, stage, repetition, there)
	for id, status := range finished {
		if now := s.ended(t); now[id] != status {
			t.Errorf("record %s was %s and is %q", id, status, now[id])
		}
	}
	s.leave(t, e)
	t.Logf("repetition %d, %s into it: exit code %d, %s after the strike", repetition+1, after, s.code, time.Since(struck).Round(time.Millisecond))
}

// ended are the records in the store.
func (s *scene) ended(t *testing.T) map[string]store.Status {
	all := map[string]store.Status{}
	for _, r := range s.records(t) {
		all[fmt.Sprintf("%s/%d/%s", r.PointID, r.Repetition, r.Began)] = r.Status
	}
	return all
}

// judge holds the run's end against what happened.
func (s *scene) judge(t *testing.T, e accident, stage string, repetition int, there bool) {
	t.Helper()
	if e.who == "coordinator" && e.what == "killed" {
		if s.code != -1 && there && stage != "storing" {
			t.Errorf("exit code %d of a run that was killed", s.code)
		}
		return
	}
	list := s.records(t)
	said := s.run.text()
	switch s.code {
	case 0, 5: // void on a machine that has other things to do
		if len(list) != 2 {
			t.Errorf("%d records, want 2", len(list))
		}
	case 3:
		if stage != "waiting" || !absent.MatchString(said) && !strings.Contains(said, "control server") {
			t.Errorf("exit code 3:\n%s", said)
		}
	case 4:
		for _, r := range list {
			named := lostBy.FindStringSubmatch(r.Reason)
			if r.Status == store.Failed && absent.MatchString(r.Reason) && r.Repetition > 0 || r.Status == store.OK || r.Status == store.Void {
				continue
			}
			if r.Status != store.Aborted || named == nil || e.who == "agent" && named[1] != "left" {
				t.Errorf("repetition %d is %s: %s", r.Repetition, r.Status, r.Reason)
			}
		}
		if e.for_ == brief && e.what == "cut off" {
			t.Errorf("%s was too long a cut", e.for_)
		}
	default:
		t.Errorf("exit code %d:\n%s", s.code, said)
	}
	sure := slices.Contains([]string{"set-up", "barrier", "warm-up", "measuring"}, stage)
	if there && sure && e.for_ != brief && s.code != 4 {
		t.Errorf("exit code %d of a run that lost somebody for %s", s.code, e.for_)
	}
}

// leave has the agents end, and looks for what they left.
func (s *scene) leave(t *testing.T, e accident) {
	t.Helper()
	for name, p := range map[string]*process{"left": s.left, "right": s.right} {
		if e.who == "agent" && e.what == "killed" && name == "left" {
			_ = p.Wait()
			continue
		}
		until(t, "agent "+name+" is free", func() bool {
			text := p.text()
			return strings.LastIndex(text, "working for ") <= max(strings.LastIndex(text, ": cleaning up"), strings.LastIndex(text, "the run of "))
		})
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCode(t, p.Cmd); code != 143 {
			t.Errorf("agent %s ended with %d", name, code)
		}
	}
	_ = s.control.stdin.Close()
	_ = s.control.Wait()
	s.requireEmpty(t)
	if kept, _ := filepath.Glob(filepath.Join(s.dir, "agents", "*")); len(kept) > 2 {
		t.Errorf("%d results are kept", len(kept))
	}
}
