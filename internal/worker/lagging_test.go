package worker

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/testkit"
)

// allLagging has all consumers of a plan of one topic lag.
var allLagging = Lagging{Topics: 1, Subscriptions: 99}

// tailingPlan has producers of two topics, and two subscriptions of each.
func tailingPlan(lagging Lagging) Plan {
	plan := simple(0, 2)
	plan.Topology.Topics, plan.Consumers = nil, nil
	for topic := range 2 {
		plan.Topology.Topics = append(plan.Topology.Topics, driver.Topic{Name: "t" + string(rune('0'+topic)), Partitions: 1})
		plan.Producers = append(plan.Producers, Producer{ID: topic, Topic: topic})
		for subscription := range 2 {
			plan.Consumers = append(plan.Consumers, driver.ConsumerConfig{Topic: topic, Subscription: subscription, Of: 1})
		}
	}
	plan.Lagging = lagging
	return plan
}

// Filling takes 400 ms, in which those who lag are off; the others have each message after 5 ms all the time.
func TestWhoTailsAndWhoLagsAreCountedApart(t *testing.T) {
	const messages, fillRate, drainRate = 4000, 10_000, 3000
	const latency, drains = 5 * time.Millisecond, 500 * time.Millisecond
	for name, c := range map[string]struct {
		lagging Lagging
		filled  int64 // messages of the backlog
		share   int64 // of four: streams that lag
	}{
		"a subscription of both topics": {Lagging{2, 1}, messages, 2},
		"one topic":                     {Lagging{1, 2}, messages / 2, 2},
		"a subscription of one topic":   {Lagging{1, 1}, messages / 2, 1},
	} {
		for where, made := range map[string]func(*testing.T, driver.Driver, Plan) *Worker{
			"here":  func(t *testing.T, d driver.Driver, p Plan) *Worker { return ready(t, d, p) },
			"apart": func(t *testing.T, d driver.Driver, p Plan) *Worker { w, _ := split(t, d, p); return w },
		} {
			t.Run(name+" "+where, func(t *testing.T) {
				w := made(t, open(t, map[string]any{"latency": latency.String()}), tailingPlan(c.lagging))
				out := w.Run(t.Context(), Load{
					Messages: messages, Schedule: constant(t, fillRate), Drain: 20 * time.Second,
					Backlog: &Backlog{For: drains, Meanwhile: constant(t, drainRate)},
				})
				if out.Err != nil || !out.Drained {
					t.Fatalf("drained %v: %v", out.Drained, out.Err)
				}
				m, b := out.Measured, out.Backlog
				if m.Received != 2*m.Sent || m.Lost+m.Duplicated+m.Reordered != 0 || m.Sent <= messages {
					t.Errorf("%+v", m)
				}
				if b.Filled != c.filled || b.FilledBytes != m.Bytes/m.Sent*c.filled {
					t.Errorf("filled %+v; want %d messages", b, c.filled)
				}
				due := m.Sent + m.Unsent // what was not sent any more has a latency, too
				lagging := due * c.share / 2
				off := 2 + 2*m.Unsent // one topic may have got fewer
				h := out.Histograms
				if n := h.EndToEndLagging.Count(); n < lagging-off || n > lagging+off {
					t.Errorf("%d latencies of consumers that lag, want %d", n, lagging)
				}
				if n := h.EndToEndLagging.Count() + out.Filling.Count() + h.EndToEnd.Count(); n != 2*due {
					t.Errorf("%d latencies in all, want %d", n, 2*due)
				}
				if n := out.Filling.Count(); n != messages*(4-c.share)/2 {
					t.Errorf("%d latencies while it was filled, want %d", n, messages*(4-c.share)/2)
				}
				if b.Received < 2*c.filled*c.share/4/2 || b.Received > lagging+off {
					t.Errorf("%d deliveries of a backlog of %d, %d in all", b.Received, c.filled, lagging)
				}
				// A message of the first half of the filling has waited for its second half at least.
				if got, least := h.EndToEndLagging.Max(), int64(messages)*1e9/fillRate-int64(50*time.Millisecond); got < least {
					t.Errorf("the oldest message of the backlog was %v old, want %v at least", time.Duration(got), time.Duration(least))
				}
				for what, got := range map[string]int64{"filling": out.Filling.Quantile(0.5), "draining": h.EndToEnd.Quantile(0.5)} {
					if got < int64(latency) || got > int64(testkit.Within(40*time.Millisecond)) {
						t.Errorf("who tails has half of the messages within %v while %s, want %v", time.Duration(got), what, latency)
					}
				}
				if n := h.Publish.Count(); n != due-messages {
					t.Errorf("%d publish latencies while it drained, %d were due", n, due-messages)
				}
			})
		}
	}
}

func TestOnlyWhatHasABacklogDecidesWhenItIsDrained(t *testing.T) {
	plan := tailingPlan(Lagging{2, 1})
	out := ready(t, open(t, nil), plan).Run(t.Context(), Load{
		Messages: 2000, Drain: 20 * time.Second, Backlog: &Backlog{Ratio: 1, Meanwhile: constant(t, 5000)},
	})
	if b := out.Backlog; out.Err != nil || b.Filled != 2000 || out.Measured.Received != 2*out.Measured.Sent || b.From > b.To {
		t.Errorf("%+v, %+v: %v", b, out.Measured, out.Err)
	}
}

func TestAPartOfAPlanHasTheTopicsThatLag(t *testing.T) {
	plan := wide(6)
	plan.Lagging = Lagging{Topics: 3, Subscriptions: 1}
	if n := plan.MaxParts(); n != 1 {
		t.Errorf("%d parts, of which one would stop when it has nothing to drain", n)
	}
	plan.Lagging.Topics = 6
	parts, err := plan.Split(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if lagging := p.laggingConsumers(); len(lagging) != len(p.Consumers) || lagging.apart() {
			t.Errorf("%v of %d topics", lagging, len(p.Topology.Topics))
		}
	}
	if got := (Lagging{Topics: 3, Subscriptions: 1}).of([]int{0, 2, 4, 5}); got.Topics != 2 {
		t.Errorf("%+v: topics 0 and 2 of the four lag", got)
	}
}

func TestWhatCameWhileABacklogWasFilledIsMerged(t *testing.T) {
	var h hist.Histogram
	h.Record(5)
	part := Outcome{Filling: h.Snapshot()}
	if n := Merged([]Outcome{part, part, {}}).Filling.Count(); n != 2 {
		t.Errorf("%d latencies of two parts with one each", n)
	}
}
