package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestFaultsAreExactlyAsManyAsAskedFor(t *testing.T) {
	const n, subscriptions = 10_000, 2
	for name, c := range map[string]struct {
		client                                           map[string]any
		nacks, missing, twice, backwards, corrupt, extra int
	}{
		"none":      {},
		"loss":      {client: map[string]any{"loss.every": 100}, missing: 100},
		"refusal":   {client: map[string]any{"fail.every": 250}, nacks: 40, missing: 40},
		"duplicate": {client: map[string]any{"duplicate.every": 50}, twice: 200, extra: 200},
		"later":     {client: map[string]any{"duplicate.every": 50, "duplicate.after": "50ms"}, twice: 200, extra: 200},
		"corrupt":   {client: map[string]any{"corrupt.every": 1000}, corrupt: 10},
		// The 10,000th waits for a neighbour in vain and is let go in the end.
		"reorder": {client: map[string]any{"reorder.every": 100}, backwards: 99},
		"all": {
			client:  map[string]any{"loss.every": 100, "fail.every": 128, "duplicate.every": 39, "corrupt.every": 1111, "reorder.every": 57},
			missing: 100 + 78 - 3, nacks: 78, twice: 250, extra: 250, corrupt: 9, backwards: 169,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, subscriptions, c.client)
			r.send(t, n)
			truth := r.settle(t, n, 0)
			want := int64(subscriptions) * (truth.Arrived - truth.Lost - truth.Failed + truth.Duplicated)
			truth = r.settle(t, n, int(want))
			if _, nacks := r.receipts.done(); nacks != c.nacks {
				t.Errorf("%d messages were refused, want %d", nacks, c.nacks)
			}
			for i, s := range r.sinks {
				missing, twice, backwards, corrupt := judge(s.delivered(), n)
				if name == "all" { // the faults meet on some messages; the broker's own counts say on how many
					c.missing, c.twice = int(truth.Lost+truth.Failed), int(truth.Duplicated)
					c.backwards, c.corrupt = int(truth.Reordered), int(truth.Corrupted)
				}
				if missing != c.missing || twice != c.twice || backwards != c.backwards || corrupt != c.corrupt {
					t.Errorf("subscription %d: %d missing, %d twice, %d backwards, %d corrupt; want %d, %d, %d, %d",
						i, missing, twice, backwards, corrupt, c.missing, c.twice, c.backwards, c.corrupt)
				}
			}
		})
	}
}

// judge counts the faults in what was delivered of 1..n.
func judge(numbers []int, n int) (missing, twice, backwards, corrupt int) {
	seen := make([]int, n+1)
	highest := 0
	for _, k := range numbers {
		if k < 0 {
			k = -k
			if seen[k] == 0 {
				corrupt++
			}
		}
		if seen[k]++; seen[k] == 2 {
			twice++
		} else if k < highest {
			backwards++
		}
		highest = max(highest, k)
	}
	for _, times := range seen[1:] {
		if times == 0 {
			missing++
		}
	}
	return missing, twice, backwards, corrupt
}

func TestCapacityIsExactAndNothingComesEarly(t *testing.T) {
	testkit.NotShort(t)
	const n, capacity = 2000, 10_000
	r := newRig(t, 1, map[string]any{"capacity": capacity, "latency": "20ms"})
	began := time.Now()
	r.send(t, n)
	truth := r.settle(t, n, n)
	// Sending takes far less than serving: after the first message the server is never idle.
	if got, want := truth.LastDeparture-truth.FirstDeparture, (n-1)*second/capacity; got != want {
		t.Errorf("%d messages departed over %d ns, want %d", n, got, want)
	}
	s := r.sinks[0]
	for i, at := range s.at {
		if due := began.Add(time.Duration(i+1)*time.Second/capacity + 20*time.Millisecond); at.Before(due) {
			t.Fatalf("message %d was delivered %v before its time", i+1, due.Sub(at))
		}
	}
	if !slices.IsSorted(s.numbers) {
		t.Error("the messages came out of order")
	}
}

func TestNothingIsDeliveredWhileTheBrokerIsFrozen(t *testing.T) {
	const first, length = 40 * time.Millisecond, 150 * time.Millisecond
	r := newRig(t, 1, map[string]any{"capacity": 1000, "stall.at": first.String(), "stall.for": length.String()})
	began := time.Now()
	r.send(t, 100) // 100 ms of work around a freeze
	truth := r.settle(t, 100, 100)
	if got, want := truth.LastDeparture, 100*int64(time.Millisecond); got != want {
		t.Errorf("the last message departed after %d ns of broker time, want %d: a freeze must not change the model", got, want)
	}
	before := 0
	for i, at := range r.sinks[0].at {
		if at.Sub(began) < first+length {
			before++
			continue
		}
		if i < before {
			t.Error("a message came out of order")
		}
	}
	if before > int(first/time.Millisecond) {
		t.Errorf("%d messages were delivered before the end of the freeze; only %d were due before it began", before, first/time.Millisecond)
	}
	if ended := r.sinks[0].at[99].Sub(began); ended < 100*time.Millisecond+length {
		t.Errorf("the last message came after %v, before the freeze and its service could have passed", ended)
	}
}

func TestAPausedBrokerDeliversNothingUntilResumed(t *testing.T) {
	r := newRig(t, 1, nil)
	if !Pause(r.address) || Pause(r.address) {
		t.Fatal("a running broker can be paused, once")
	}
	r.send(t, 100)
	time.Sleep(30 * time.Millisecond)
	acked, _ := r.receipts.done()
	if n := len(r.sinks[0].delivered()); n > 0 || acked > 0 {
		t.Errorf("a paused broker delivered %d and acknowledged %d", n, acked)
	}
	if !Resume(r.address) || Resume(r.address) {
		t.Fatal("a paused broker can be resumed, once")
	}
	r.settle(t, 100, 100)
}

func TestAWindowBoundsUnacknowledgedMessages(t *testing.T) {
	r := newRig(t, 1, map[string]any{"window": 7, "capacity": 5000})
	r.send(t, 300)
	if truth := r.settle(t, 300, 300); truth.MaxUnacked != 7 {
		t.Errorf("up to %d messages were unacknowledged, want 7", truth.MaxUnacked)
	}
}

func TestFullQueueBlocksRejectsOrDrops(t *testing.T) {
	const limit, n = 20, 50
	for name, want := range map[string]Counts{
		fullRejects: {Arrived: n, Failed: n - limit, Waiting: limit},
		fullDrops:   {Arrived: n, Dropped: n - limit, Waiting: limit},
		fullBlocks:  {Arrived: limit, Waiting: limit},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1, map[string]any{"queue.limit": limit, "queue.full": name, "latency": "1h"})
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			batch := make([]driver.Message, n)
			for i := range batch {
				batch[i] = driver.Message{Slot: uint32(i), Payload: make([]byte, 16)}
			}
			err := r.prod.Send(ctx, batch)
			if blocked := err != nil; blocked != (name == fullBlocks) {
				t.Errorf("Send: %v", err)
			}
			got := r.settle(t, n, 0)
			got.FirstDeparture, got.LastDeparture, got.MaxUnacked = 0, 0, 0
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

func TestAddressIsSharedWithTheSameSettingsOnly(t *testing.T) {
	openBroker(t, t.Name(), map[string]any{"capacity": 5})
	openBroker(t, t.Name(), map[string]any{"capacity": 5})
	if b, err := join(t.Name(), settings{capacity: 6}); err == nil {
		b.leave()
		t.Error("the same address was opened with another capacity")
	}
}

func TestImpossibleSettingsAreRefusedByName(t *testing.T) {
	for setting, given := range map[string]map[string]any{
		"client.capacity":      {"capacity": -1},
		"client.loss.every":    {"loss.every": -5},
		"client.window":        {"window": -1},
		"client.stall.every":   {"stall.for": "2s", "stall.every": "1s"},
		"client.latency.sigma": {"latency.sigma": -0.1},
		"client.memory":        {"memory": 1},
	} {
		v, err := driver.Decode(declared(), driver.ClientScope, given)
		if err != nil {
			t.Fatal(err)
		}
		_, err = newSettings(v)
		refusal, ok := err.(*driver.ErrUnsupported) //nolint:errorlint // newSettings returns it unwrapped
		if !ok || refusal.Setting != setting {
			t.Errorf("%v: %v; want a refusal of %s", given, err, setting)
		}
	}
}
