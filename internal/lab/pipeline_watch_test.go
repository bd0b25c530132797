package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/pipeline/consumer"
)

// Nine rides of ten were accepted; the failed one may be among the nine that have come.
func TestAsManyRidesAsWereAcceptedMayBeOthers(t *testing.T) {
	r := receivedRides{total: 9, lastRise: 5e9}
	if !r.holdAllAccepted(0, 5e9) || r.holdAllAccepted(1, 5.9e9) || !r.holdAllAccepted(1, 6e9) {
		t.Error("if a ride failed, the others have come when none comes for a second")
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
