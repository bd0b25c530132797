package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestWhatALimitedQueueDropsOrRefusesStandsInTheBooks(t *testing.T) {
	const sent, keeps = 1000, 100
	for _, c := range []struct {
		discard string
		want    store.Books
		reason  string
	}{
		{"old", store.Books{Sent: sent, Acked: sent, Received: keeps, Lost: sent - keeps, LostAcked: sent - keeps}, "900 messages were lost although the broker had confirmed them"},
		{"new", store.Books{Sent: sent, Acked: keeps, Failed: sent - keeps, Received: keeps, Lost: sent - keeps}, "900 of 1000 sends failed: "},
	} {
		t.Run("discard "+c.discard, func(t *testing.T) {
			db := openStore(t)
			_, err := lab.Run(t.Context(), runsOf(onSim(func(s *study.Spec) {
				s.Broker, s.Persistence = "jetstream", "log"
				s.Topic = map[string]any{"retention": "limits", "discard": c.discard, "max_msgs": keeps}
				s.Measure, s.Backlog, s.Load.Rate = "backlog", study.Backlog{Messages: sent, DrainRatio: 1}, 0
				s.Drain = study.Duration(2 * time.Second)
			})), lab.Options{Store: db, Host: brokerHost(t), Log: testLog{t}})
			if err != nil {
				t.Fatal(err)
			}
			r := recordsOf(t, db)[0]
			if r.Status != store.Failed || !strings.Contains(r.Reason, c.reason) {
				t.Fatalf("%s: %s, %+v; want it failed: %s", r.Status, r.Reason, r.Result.Books, c.reason)
			}
			b := r.Result.Books
			got := store.Books{Sent: b.Sent, Acked: b.Acked, Failed: b.Failed, Received: b.Received, Lost: b.Lost, LostAcked: b.LostAcked}
			if got != c.want {
				t.Errorf("books %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAWindowInBytesThatHoldsOneMessageSaysSo(t *testing.T) {
	for bytes, want := range map[study.Size]bool{100: true, 199: true, 200: false} {
		r := one(t, onSim(func(s *study.Spec) {
			s.Measure, s.Count = "count", study.Count{Messages: 20}
			s.MessageSize = study.Sizes{{Size: 100, Weight: 1}}
			s.InFlight = study.InFlight{Messages: 50, Bytes: bytes}
		}), lab.Options{})
		if got := doubted(r, "one-in-flight"); got != want || r.Result == nil {
			t.Errorf("%d bytes for messages of 100: doubted %v (%s %s)", bytes, got, r.Status, r.Reason)
		}
	}
}
