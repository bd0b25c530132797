package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// through is the control server's address by way of a proxy.
func through(t *testing.T, c *fleet.Control) (fleet.Address, *testkit.Proxy) {
	t.Helper()
	p := testkit.NewProxy(t, strings.TrimPrefix(c.Join.Server, "nats://"))
	at := c.Join
	at.Server = "nats://" + p.Addr
	return at, p
}

// started is an agent in this process, by its name, at an address of its own.
type started struct {
	end func() error
	// of what it said so far:
	lines chan string
}

func startAt(t *testing.T, c *fleet.Control, at fleet.Address, name, dir string) *started {
	t.Helper()
	return startOptions(t, fleet.Options{Join: at, Token: c.Token, Name: name, Build: "b1", Dir: dir})
}

func startOptions(t *testing.T, o fleet.Options) *started {
	t.Helper()
	s := &started{lines: make(chan string, 100)}
	o.Say = func(format string, args ...any) {
		t.Logf(o.Name+": "+format, args...)
		s.lines <- fmt.Sprintf(format, args...)
	}
	s.end = joinWith(t, o)
	return s
}

// says waits until the agent says something.
func (s *started) says(t *testing.T, want string) {
	t.Helper()
	for within := time.After(time.Minute); ; {
		select {
		case line := <-s.lines:
			if strings.Contains(line, want) {
				return
			}
		case <-within:
			t.Fatalf("the agent did not say %q within a minute", want)
		}
	}
}

// A network that is away for less than two seconds changes no count, whether it keeps the connections or forgets them.
func TestAShortPartitionIsSurvived(t *testing.T) {
	t.Parallel()
	for name, forgets := range map[string]bool{"packets are lost": false, "connections are forgotten": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := control(t)
			at, network := through(t, c)
			startAt(t, c, at, "left", "")
			startAt(t, c, c.Join, "right", "")
			f, err := gather(t, c, 2, 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			a := f.Agent()
			if _, err := a.Prepare(t.Context(), plan(t, 2)); err != nil {
				t.Fatal(err)
			}
			cuts := 0
			cut := func() { // the first ends in the measured phase, the second after the trial has
				cuts++
				network.Cut()
				if forgets {
					network.Reset()
				}
				time.AfterFunc(1800*time.Millisecond, network.Heal)
			}
			out, parts := a.Run(t.Context(), worker.Load{
				Schedule: rate(t, 500), Duration: 4 * time.Second, Drain: 10 * time.Second,
				Hooks: worker.Hooks{Measuring: func(int64) { cut(); time.AfterFunc(3*time.Second, cut) }},
			})
			if m := out.Measured; out.Err != nil || m.Due != 2000 || m.Sent != 2000 || m.Received != 4000 || m.Lost+m.Duplicated != 0 || len(parts) != 2 {
				t.Errorf("%v, %+v, %d parts", out.Err, m, len(parts))
			}
			if err := a.Close(); err != nil || cuts != 2 {
				t.Errorf("%v, %d cuts", err, cuts)
			}
		})
	}
}

// A network that is away for longer loses the agent, by its name; both sides clean up, and meet again when it is back.
func TestALongPartitionLosesTheAgentAndBothSidesCleanUp(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	c := control(t)
	at, network := through(t, c)
	left, right := startAt(t, c, at, "left", ""), startAt(t, c, c.Join, "right", "")
	f, err := gather(t, c, 2, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a := f.Agent()
		if _, err := a.Prepare(t.Context(), plan(t, 2)); err != nil {
			t.Fatal(err)
		}
		out, _ := a.Run(t.Context(), worker.Load{
			Schedule: rate(t, 500), Duration: time.Minute, Drain: time.Second, Hooks: worker.Hooks{Measuring: func(int64) { network.Cut() }},
		})
		var lost *agent.ErrLost
		if !errors.As(out.Err, &lost) || !strings.HasPrefix(lost.Agent, "left on ") || !strings.Contains(lost.Why, "it was not heard for ") {
			t.Fatal(out.Err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		left.says(t, ": cleaning up")
		network.Heal()
	}
	f.Close()
	right.says(t, "the run of ")
}

// An agent that went away between two points costs none of them: the next one waits for another.
func TestAnAgentThatLeavesBetweenPointsIsReplaced(t *testing.T) {
	t.Parallel()
	c := control(t)
	one := startAt(t, c, c.Join, "one", "")
	f, err := gather(t, c, 1, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	startAt(t, c, c.Join, "two", "")
	a := f.Agent()
	if _, err := a.Prepare(t.Context(), plan(t, 1)); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// keeps is a fleet of one agent behind a network of its own, which has just measured and can't tell. It returns when the agent has the
// result on disk, with what Run will return.
func keeps(t *testing.T) (c *fleet.Control, at fleet.Address, network *testkit.Proxy, dir string, one *started, a agent.Agent, outcome chan worker.Outcome) {
	t.Helper()
	c, dir = control(t), filepath.Join(t.TempDir(), "agents")
	at, network = through(t, c)
	one = startAt(t, c, at, "one", dir)
	f, err := gather(t, c, 1, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	a = f.Agent()
	if _, err := a.Prepare(t.Context(), slow(t)); err != nil {
		t.Fatal(err)
	}
	outcome = make(chan worker.Outcome, 1)
	go func() {
		out, _ := a.Run(t.Context(), worker.Load{
			Schedule: rate(t, 500), Duration: time.Second, Drain: 20 * time.Second, Hooks: worker.Hooks{Sent: network.Cut},
		})
		outcome <- out
	}()
	for kept := []string{}; len(kept) == 0; time.Sleep(10 * time.Millisecond) {
		select {
		case out := <-outcome:
			t.Fatalf("the trial ended with %v and %+v before its result was kept", out.Err, out.Measured)
		default:
		}
		kept, _ = filepath.Glob(filepath.Join(dir, "*"))
	}
	network.Reset() // what is under way doesn't arrive
	return c, at, network, dir, one, a, outcome
}

// slow is a plan whose messages take so long that a trial is not over when it has sent everything.
func slow(t *testing.T) agent.Plan {
	t.Helper()
	p := plan(t, 2)
	p.Broker.Client = map[string]any{"latency": "500ms"}
	p.Broker.User, p.Broker.Password, p.Broker.Key = "eve", "s3cret-password", link.Text([]byte("s3cret-key"))
	return p
}

func complete(t *testing.T, out worker.Outcome) {
	t.Helper()
	if m := out.Measured; out.Err != nil || m.Due != 500 || m.Sent != 500 || m.Received != 1000 || m.Lost+m.Duplicated != 0 {
		t.Errorf("%v, %+v", out.Err, m)
	}
}

// absent waits until nothing is kept any more, the directory included.
func absent(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is still there", dir)
		}
	}
}

// An agent that ends between the end of a trial and the coordinator's question for the result has it when it is started again, also
// when that takes longer than agents are waited for otherwise. The next point finds it.
func TestAResultOutlivesItsAgent(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"at once": 0, "later": 6 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, at, network, dir, one, a, outcome := keeps(t)
			if err := one.end(); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			time.Sleep(away)
			network.Heal()
			again := startOptions(t, fleet.Options{Join: at, Token: c.Token, Name: "one", Build: "b1", Dir: dir, Once: true})
			complete(t, <-outcome)
			if _, err := os.Stat(dir); err != nil {
				t.Error("the result was removed before the record can have been stored:", err)
			}
			if out, _ := a.Run(t.Context(), worker.Load{Messages: 10, Drain: time.Second}); !errors.As(out.Err, new(*agent.ErrLost)) || !strings.Contains(out.Err.Error(), "it was started again") {
				t.Errorf("a trial without clients: %v", out.Err)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			again.says(t, "the run of ")
			absent(t, dir)
			if _, err := a.Prepare(t.Context(), slow(t)); err != nil {
				t.Fatal(err)
			}
			if out, _ := a.Run(t.Context(), worker.Load{Messages: 100, Drain: 5 * time.Second}); out.Err != nil || out.Measured.Received != 200 {
				t.Errorf("%v, %+v", out.Err, out.Measured)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A network that is away for long at the end of a trial costs the clients of the agent, not the result.
func TestAResultOutlivesAPartition(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	_, _, network, dir, one, a, outcome := keeps(t)
	one.says(t, ": cleaning up")
	network.Heal()
	complete(t, <-outcome)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	absent(t, dir)
}

// Somebody who comes back without the result isn't waited for.
func TestAnAgentWithoutItsResultIsLostAtOnce(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	c, at, network, dir, one, _, outcome := keeps(t)
	began := time.Now()
	if err := one.end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	network.Heal()
	startAt(t, c, at, "one", dir)
	if out := <-outcome; !errors.As(out.Err, new(*agent.ErrLost)) || time.Since(began) > 25*time.Second {
		t.Errorf("%v after %s", out.Err, time.Since(began))
	}
}

// What an agent was told of the broker is in its memory only.
func TestAKeptResultHoldsNoPassword(t *testing.T) {
	t.Parallel()
	_, _, _, dir, one, _, _ := keeps(t)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), `"Session"`) {
		t.Errorf("%s, %v", text, err)
	}
	for _, secret := range []string{"s3cret-password", link.Text([]byte("s3cret-key"))} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the file holds %s", secret)
		}
	}
	_ = one.end()
}

// The next agent removes leftover results without an owner, but not those that another agent holds or may come back for.
func TestLeftResultsAreRemoved(t *testing.T) {
	t.Parallel()
	c, _, _, dir, one, _, _ := keeps(t)
	for name, age := range map[string]time.Duration{"old": time.Hour, "broken": 0} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	other := startAt(t, c, c.Join, "two", dir)
	other.says(t, "is ready at ")
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	info, err := os.Stat(left[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if folder, err := os.Stat(dir); err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", folder.Mode(), err)
	}
	_ = one.end()
}
