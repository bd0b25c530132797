package lab

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
)

// Nine rides of ten were accepted; the failed one may be among the nine that have come.
func TestAsManyRidesAsWereAcceptedMayBeOthers(t *testing.T) {
	for _, c := range []struct {
		failed, lastAnswer int64
		want               bool
	}{{0, 5e9, true}, {1, 5.9e9, false}, {1, 6e9, true}} {
		r := receivedRides{total: 9, lastRise: 5e9, lastAnswer: c.lastAnswer}
		if r.holdAllAccepted(c.failed) != c.want {
			t.Errorf("%+v: if a ride failed, the others have come when none comes for a second", c)
		}
	}
}

func TestRidesAreCountedAcrossRestartsOfTheConsumer(t *testing.T) {
	const first, second = 1, 2 // when the processes began
	for name, c := range map[string]struct {
		answers   []consumer.Stats
		total     int64
		restarted bool
		lastRise  int64 // index of the answer with which the total rose last
	}{
		"not restarted": {answers: []consumer.Stats{{Began: first, Delivered: 10}, {Began: first, Delivered: 10}}, total: 10},
		"restarted, and seen before it has as many": {
			answers: []consumer.Stats{{Began: first, Delivered: 10}, {Began: first, Delivered: 25}, {Began: second, Delivered: 8}},
			total:   33, restarted: true, lastRise: 2,
		},
		"restarted, and seen only when it has more": {
			answers: []consumer.Stats{{Began: first, Delivered: 10}, {Began: second, Delivered: 12}},
			total:   22, restarted: true, lastRise: 1,
		},
		"restarted before the first ride": {
			answers: []consumer.Stats{{Began: first}, {Began: second, Delivered: 12}}, total: 12, restarted: true, lastRise: 1,
		},
		"without those that came again or were corrupted": {
			answers: []consumer.Stats{{Began: first, Delivered: 10, Again: 3, Corrupted: 2}}, total: 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var r receivedRides
			for i, s := range c.answers {
				r.add(s, int64(i))
			}
			if r.total != c.total || r.restarted != c.restarted || r.lastRise != c.lastRise {
				t.Errorf("%d rides, restarted %v, last rise at %d; want %d, %v and %d", r.total, r.restarted, r.lastRise, c.total, c.restarted, c.lastRise)
			}
		})
	}
}

// A consumer that has stopped answering may go on receiving: nothing shows that the missing rides are lost.
func TestRidesMissingWhileTheConsumerDoesNotAnswerAreLateNotLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ silent, arriving bool }{"it answers": {false, false}, "it is silent": {true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answered := false
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if answered && c.silent {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				answered = true
				_ = json.NewEncoder(w).Encode(consumer.Stats{Began: 1, Delivered: 5})
			}))
			defer server.Close()
			client, err := load.NewRunner(load.Load{Address: "-", Maker: &load.Rides{}, Phases: []load.Phase{{Threads: 1, Total: 10}}})
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{lab: &lab{}, report: func(Event) {}}
			w := pipelineWatch{client: client, consumer: consumer.NewRemote(server.Listener.Addr().String()), metering: newMetering(b, "", 0)}
			got := w.drain(t.Context(), load.Outcome{Counts: load.Counts{Accepted: 10}}, arrivingWithin+200*time.Millisecond)
			if got.complete || got.arriving != c.arriving {
				t.Errorf("%+v", got)
			}
		})
	}
}
