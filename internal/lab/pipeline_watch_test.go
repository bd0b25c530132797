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

// Of 10 rides, 5 have arrived.
func TestADrainEndsWhenTheAcceptedRidesHaveArrived(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accepted, failed int64
		silent           bool // the consumer answers once and then no more, though it may go on receiving
		want             drainResult
		shortest         time.Duration
	}{
		"all accepted ones have": {accepted: 5, want: drainResult{complete: true}},
		// The failed ride may be among the five.
		"as many as were accepted, but one failed": {accepted: 5, failed: 1, want: drainResult{complete: true}, shortest: arrivingWithin},
		"some are lost":      {accepted: 10, shortest: arrivingWithin},
		"some may come late": {accepted: 10, silent: true, want: drainResult{arriving: true}, shortest: arrivingWithin},
	} {
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
			posted, began := load.Outcome{Counts: load.Counts{Accepted: c.accepted, Failed: c.failed}}, time.Now()
			got := w.drain(t.Context(), posted, arrivingWithin+500*time.Millisecond)
			if took := time.Since(began); got != c.want || took < c.shortest {
				t.Errorf("%+v after %s; want %+v", got, took, c.want)
			}
		})
	}
}
