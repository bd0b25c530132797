package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestTheBooksCountMessagesThatALimitedQueueDropsOrRefuses(t *testing.T) {
	t.Parallel()
	const sent, keeps = 1000, 100
	for _, c := range []struct {
		discard string
		want    store.Books
		reason  string // "": ok
	}{
		{"old", store.Books{Sent: sent, Acked: sent, Received: keeps, Lost: sent - keeps, LostAcked: sent - keeps, MayDrop: sent - keeps}, ""},
		{"new", store.Books{Sent: sent, Acked: keeps, Failed: sent - keeps, Received: keeps, Lost: sent - keeps}, "900 of 1000 sends failed: "},
	} {
		t.Run("discard "+c.discard, func(t *testing.T) {
			db := openStore(t)
			_, err := lab.Run(t.Context(), runsOf(simSpec(func(s *study.Spec) {
				s.Broker, s.Persistence = "jetstream", "log"
				s.Topic = map[string]any{"retention": "limits", "discard": c.discard, "max_msgs": keeps}
				s.Measure, s.Backlog, s.Load.Rate = "backlog", study.Backlog{Messages: sent, DrainRatio: 1}, 0
				s.Drain = study.Duration(2 * time.Second)
			})), lab.Options{Store: db, Host: newHost(t), Log: testLog{t}})
			if err != nil {
				t.Fatal(err)
			}
			r := readRecords(t, db)[0]
			if c.reason == "" && (!countsHold(r) || !hasDoubt(r, "limited") || hasDoubt(r, "loss")) {
				t.Fatalf("%s: %s, %+v, %v; want no failure: that much was asked for", r.Status, r.Reason, r.Result.Books, r.Doubts)
			}
			if c.reason != "" && (r.Status != store.Failed || !strings.Contains(r.Reason, c.reason)) {
				t.Fatalf("%s: %s, %+v; want it failed: %s", r.Status, r.Reason, r.Result.Books, c.reason)
			}
			b := r.Result.Books
			got := store.Books{Sent: b.Sent, Acked: b.Acked, Failed: b.Failed, Received: b.Received, Lost: b.Lost, LostAcked: b.LostAcked, MayDrop: b.MayDrop}
			if got != c.want {
				t.Errorf("books %+v, want %+v", got, c.want)
			}
		})
	}
}

// An application takes 200 messages per second of 1,000; the broker drops messages that have waited for 400 ms, as the spec asks. So
// about 800 messages per second are lost.
func TestMessagesDroppedByAnAgeLimitAreNoFailure(t *testing.T) {
	t.Parallel()
	testkit.NotShort(t)
	for name, spec := range map[string]string{
		"jetstream": "broker: jetstream\ntopicConfig: {max_age: 400ms, retention: limits}\nclient: {PullMaxMessages: 1}\n",
		"rabbitmq":  "broker: rabbitmq\ntopicConfig: {x-message-ttl: 400}\nclient: {prefetch: 1, ack.every: 1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			if name == "rabbitmq" {
				h = sharedHost(t)
			}
			r := runPoint(t, parseSpec(t, spec+"measure: rate\nload.rate: 1000\nduration: 2s\nwarmup: 300ms\ndrain: 3s\ndelivery: at-least-once\nconsumerDelay: 5ms\n"), lab.Options{Host: h})
			if r.Status != store.OK || !hasDoubt(r, "limited") || hasDoubt(r, "loss") {
				t.Fatalf("%s: %s, %v", r.Status, r.Reason, r.Doubts)
			}
			b := r.Result.Books
			if b.Acked != 2000 || b.Received < 150 || b.Received > 800 || b.LostAcked != 2000-b.Received || b.MayDrop != 2000 {
				t.Errorf("%+v", b)
			}
			for _, d := range r.Doubts {
				if d.Code == "limited" && !strings.Contains(d.Text, "400") {
					t.Error(d.Text)
				}
			}
		})
	}
	t.Run("an age that nothing reaches excuses nothing", func(t *testing.T) {
		r := runPoint(t, parseSpec(t, "broker: jetstream\ntopicConfig: {max_age: 10m, max_msgs: 100000}\nmeasure: rate\nload.rate: 1000\nduration: 1s\nwarmup: 300ms\ndelivery: at-least-once\n"), lab.Options{Host: newHost(t)})
		if b := r.Result.Books; r.Status != store.OK || b.MayDrop != 0 || b.Lost != 0 {
			t.Errorf("%s: %s, %+v", r.Status, r.Reason, b)
		}
	})
}

func TestALimitExcusesOnlyTheLossItMayCause(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	for name, c := range map[string]struct {
		client map[string]any
		rate   float64
		status store.Status
	}{
		"more than the queue keeps":           {map[string]any{"capacity": 1000, "queue.limit": 50, "queue.full": "drop"}, 4000, store.OK},
		"lost, though the queue never filled": {map[string]any{"loss.every": 100, "queue.limit": 500_000, "queue.full": "drop"}, 4000, store.Failed},
		"lost without a limit":                {map[string]any{"loss.every": 100}, 4000, store.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			r := runOnce(t, simSpec(func(s *study.Spec) {
				s.Load.Rate, s.Client = c.rate, c.client
			}), lab.Options{})
			excused := c.status == store.OK && countsHold(r)
			if b := r.Result.Books; r.Status != c.status && !excused || b.LostAcked == 0 || hasDoubt(r, "limited") != (c.status == store.OK) {
				t.Errorf("%s %q, %+v, %v; want it %s", r.Status, r.Reason, b, r.Doubts, c.status)
			}
		})
	}
}

func TestAWindowInBytesThatHoldsOneMessageSaysSo(t *testing.T) {
	for bytes, want := range map[study.Size]bool{100: true, 199: true, 200: false} {
		r := runPoint(t, simSpec(func(s *study.Spec) {
			s.Measure, s.Count = "count", study.Count{Messages: 20}
			s.MessageSize = study.Sizes{{Size: 100, Weight: 1}}
			s.InFlight = study.InFlight{Messages: 50, Bytes: bytes}
		}), lab.Options{})
		if got := hasDoubt(r, "one-in-flight"); got != want || r.Result == nil {
			t.Errorf("%d bytes for messages of 100: doubted %v (%s %s)", bytes, got, r.Status, r.Reason)
		}
	}
}
