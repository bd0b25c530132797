package consumer

import (
	"context"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
)

// states are all kinds, by name.
func states(t *testing.T) map[string]State {
	t.Helper()
	sqlite, err := OpenSQLite(filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]State{"memory": NewMemory(), "sqlite": sqlite}
}

func someRide(key string, skier, lift int) ride.Ride {
	return ride.Ride{ID: ride.KeyID(key), Resort: 3, Season: 2024, Day: 7, Skier: skier, Time: 1, Lift: lift}
}

func TestARideCountsOnceHoweverManyThreadsBringIt(t *testing.T) {
	for name, s := range states(t) {
		const rides, threads = 200, 8
		var fresh [threads]int
		var all sync.WaitGroup
		for n := range threads {
			all.Go(func() {
				for i := range rides {
					got, err := s.Apply([]ride.Ride{someRide(string(rune('a'+i)), 1+i%10, 2), someRide(string(rune('a'+i)), 1+i%10, 2)})
					if err != nil {
						t.Error(err)
					}
					fresh[n] += got
				}
			})
		}
		all.Wait()
		sum := 0
		for _, n := range fresh {
			sum += n
		}
		got, err := s.Totals()
		if want := (Totals{Rides: rides, Skiers: 10, Counted: rides}); got != want || err != nil || sum != rides {
			t.Errorf("%s: %+v, %v, %d fresh; want %+v", name, got, err, sum, want)
		}
		for q, want := range map[server.Query]int64{
			{Resort: 3, Skier: 1}: 20 * 20, {Resort: 3, Season: 2024, Day: 7, Skier: 1}: 20 * 20,
			{Resort: 3, Season: 2023, Skier: 1}: 0, {Resort: 3, Day: 8, Skier: 1}: 0, {Resort: 4, Skier: 1}: 0, {Resort: 3, Skier: 11}: 0,
		} {
			if got, err := s.Vertical(q); got != want || err != nil {
				t.Errorf("%s: vertical of %+v: %d, %v; want %d", name, q, got, err, want)
			}
		}
		ids := map[ride.ID]bool{}
		if err := s.IDs(func(id ride.ID) error { ids[id] = true; return nil }); err != nil || len(ids) != rides || !ids[ride.KeyID("a")] {
			t.Errorf("%s: %d ids, %v", name, len(ids), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestASQLiteStateGoesOnWhereItEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	for round := range 3 {
		s, err := OpenSQLite(path)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := s.Apply([]ride.Ride{someRide("a", 1, 1), someRide("b", 1, 1)})
		if err != nil || (fresh == 2) != (round == 0) {
			t.Errorf("round %d: %d fresh, %v", round, fresh, err)
		}
		if got, _ := s.Totals(); got != (Totals{Rides: 2, Skiers: 1, Counted: 2}) {
			t.Errorf("round %d: %+v", round, got)
		}
		_ = s.Close()
	}
	if _, err := OpenSQLite(filepath.Join(t.TempDir(), "no", "such", "folder", "state.db")); err == nil {
		t.Error("a state in no folder is opened")
	}
}

// source is a driver that delivers batches to the first thread.
type source struct {
	driver.Driver
	batches [][][]byte
	end     error
}

func (d *source) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	ready()
	if c.ID == 0 {
		for _, b := range d.batches {
			s.Deliver(b)
		}
		if d.end != nil {
			return d.end
		}
	}
	<-ctx.Done()
	return nil
}

func TestAConsumerTellsWhatItHasSeen(t *testing.T) {
	a, b := someRide("a", 1, 5), someRide("b", 2, 5)
	a.At = clock.Now() - int64(time.Second)
	d := &source{batches: [][][]byte{{a.Append(nil), []byte("x")}, {a.Append(nil), b.Append(nil)}}}
	ctx, stop := context.WithCancel(t.Context())
	c, err := Start(ctx, d, NewMemory(), 3)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(c.Handler())
	defer h.Close()
	remote := NewRemote(strings.TrimPrefix(h.URL, "http://"))
	var s Stats
	for deadline := time.Now().Add(10 * time.Second); s.Delivered < 4 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if s, err = remote.Stats(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s.Totals != (Totals{2, 2, 2}) || s.Delivered != 4 || s.Again != 1 || s.Corrupted != 1 {
		t.Errorf("%+v", s)
	}
	if s.Latency.Count() != 2 || s.Latency.Min() < int64(time.Second) || s.Latency.Max() > int64(20*time.Second) {
		t.Errorf("latency of %d rides: %d to %d", s.Latency.Count(), s.Latency.Min(), s.Latency.Max())
	}
	ids, err := remote.Rides(t.Context())
	if err != nil || len(ids) != 2 || !slices.Contains(ids, a.ID) || !slices.Contains(ids, b.ID) {
		t.Error(ids, err)
	}
	if metres, err := remote.Vertical(t.Context(), server.Query{Resort: 3, Season: 2024, Day: 7, Skier: 2}); metres != 50 || err != nil {
		t.Error(metres, err)
	}
	if _, err := remote.Vertical(t.Context(), server.Query{Resort: 99, Skier: 2}); err == nil {
		t.Error("a resort that isn't there has a vertical")
	}
	stop()
	c.Wait()
}

func TestAThreadThatEndsByItselfBreaksTheConsumer(t *testing.T) {
	no := errors.New("the queue was deleted")
	c, err := Start(t.Context(), &source{end: no}, NewMemory(), 2)
	if err == nil {
		err = <-c.Broken()
	}
	if !errors.Is(err, no) {
		t.Error(err)
	}
}
