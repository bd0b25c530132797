package lab_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

var fakeRate = regexp.MustCompile(`^rate ([\d,]+)`)

// fakes are tools of NATS that do what a script does.
var fakes = map[string]string{
	"fake-ok":     "echo starting; sleep 1; echo rate 1,000",
	"fake-slow":   "echo rate 500",
	"fake-silent": "echo bye",
	"fake-broken": "echo no such option; exit 3",
	"fake-stuck":  "sleep 1000 & echo rate 1,000; sleep 1000",
}

func init() {
	for name, script := range fakes {
		maker.Register(maker.Tool{
			Name: name, Broker: "nats", Recipe: provision.Recipe{Versions: []provision.Version{{Name: "1"}}},
			Command: func(_, _ string, args []string) (provision.Command, error) {
				return provision.Command{Path: "/bin/sh", Args: args}, nil
			},
			Arguments: func(p maker.Point) ([]string, error) { return []string{"-c", script}, p.Only() },
			Read: func(_ maker.Point, o *maker.Output) maker.Figures {
				return maker.Figures{SendRate: o.Number(o.Last(fakeRate)[1]), EndToEnd: map[string]float64{"p99": 5e6}}
			},
		})
	}
}

// withTool is a second at 1,000/s by a tool.
func withTool(name string) study.Spec {
	return natsSpec(func(s *study.Spec) { s.Generator = name })
}

// What a tool printed is kept as its own; what was not counted is unknown, and not 0.
func TestTheFiguresOfAToolAreItsOwn(t *testing.T) {
	t.Parallel()
	r := runOnce(t, withTool("fake-ok"), lab.Options{Host: newHost(t)})
	if r.Status != store.OK {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	of := func(key string) float64 { return results.MustMetric(key).Of(r) }
	if of("publish_rate") != 1000 || of("throughput") != 1000 || of("e2e_service_p99_ns") != 5e6 {
		t.Errorf("given: %v", r.Result.Given)
	}
	for _, key := range []string{"lost", "duplicated", "sent", "received", "receive_rate", "e2e_p99_ns", "publish_p99_ns", "lag_p99_ns"} {
		if v := of(key); v == v {
			t.Errorf("%s is %v; nobody measured it", key, v)
		}
	}
	tool := r.Result.Tool
	if r.Versions.Client != "fake-ok 1" || tool.Name != "fake-ok" || strings.Join(tool.Printed, "|") != "starting|rate 1,000" {
		t.Errorf("%+v by %s", tool, r.Versions.Client)
	}
	if r.Result.Cost.Messages != 500 || !r.Result.Cost.BrokerKnown || r.Result.Cost.Seconds < 1 {
		t.Errorf("cost: %+v", r.Result.Cost)
	}
}

func TestAToolThatDoesNotDoWhatWasAskedForHasNoResultThatCounts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		status store.Status
		reason string
	}{
		"fake-slow":   {store.Void, "fake-slow says that it sent 500/s where 1000/s were asked for"},
		"fake-silent": {store.Failed, "without the figures that it prints: it has no line like ^rate"},
		"fake-broken": {store.Failed, "no such option"},
	} {
		r := runOnce(t, withTool(name), lab.Options{Host: newHost(t)})
		if r.Status != want.status || !strings.Contains(r.Reason, want.reason) {
			t.Errorf("%s: %s: %s; want %s: %s", name, r.Status, r.Reason, want.status, want.reason)
		}
	}
}

// Nothing that a tool has started outlives the repetition.
func TestAToolThatIsInterruptedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	h, db := newHost(t), openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	_, err := lab.Run(ctx, runsOf(withTool("fake-stuck")), lab.Options{Host: h, Store: db, Watch: func(e lab.Event) {
		if e.Kind == lab.Staged && e.Stage == "running fake-stuck" {
			time.AfterFunc(time.Second, cancel)
		}
	}})
	records := readRecords(t, db)
	if !errors.Is(err, context.Canceled) || len(records) != 1 || records[0].Status != store.Aborted || time.Since(began) > 20*time.Second {
		t.Fatalf("%v after %s: %v", err, time.Since(began), endings(records))
	}
	checkNothingLeft(t, h)
}

func TestWhatAToolCantDoIsRefusedByName(t *testing.T) {
	for want, edit := range map[string]func(*study.Spec){
		"generator: fake-ok is not supported: it drives nats": func(s *study.Spec) { s.Broker = "kafka" },
		"did you mean": func(s *study.Spec) { s.Generator = "fake-okk" },
	} {
		s := withTool("fake-ok")
		edit(&s)
		if err := lab.Possible(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if err := lab.OnAgents(withTool("fake-ok"), 1); err == nil || !strings.Contains(err.Error(), "a process of this machine") {
		t.Errorf("on an agent: %v", err)
	}
}
