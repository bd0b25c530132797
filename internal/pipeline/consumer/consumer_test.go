package consumer

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
	"github.com/brokermark/brokermark/internal/store/pgtest"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.Stop()
	os.Exit(code)
}

// kinds of states, and what Open knows each by.
var kinds = map[string]func(t *testing.T) string{
	"memory":   func(*testing.T) string { return "" },
	"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "state.db") },
	"postgres": func(t *testing.T) string { return pgtest.Database(t) },
}

// each opens a state of each kind.
func each(t *testing.T, check func(t *testing.T, s State)) {
	for kind, name := range kinds {
		t.Run(kind, func(t *testing.T) {
			s, err := Open(name(t))
			if err != nil {
				t.Fatal(err)
			}
			check(t, s)
		})
	}
}

func someRide(key string, skier, lift int) ride.Ride {
	return ride.Ride{ID: ride.KeyID(key), Resort: 3, Season: 2024, Day: 7, Skier: skier, Time: 1, Lift: lift}
}

func TestARideCountsOnceHoweverManyThreadsBringIt(t *testing.T) {
	each(t, func(t *testing.T, s State) {
		const rides = 200
		if sum := applied(t, rides, s, s, s, s, s, s, s, s); sum != rides {
			t.Errorf("%d rides were new", sum)
		}
		if got, err := s.Totals(); got != (Totals{Rides: rides, Skiers: 10, Counted: rides}) || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
		for q, want := range map[server.Query]int64{
			{Resort: 3, Skier: 1}: 20 * 20, {Resort: 3, Season: 2024, Day: 7, Skier: 1}: 20 * 20,
			{Resort: 3, Season: 2023, Skier: 1}: 0, {Resort: 3, Day: 8, Skier: 1}: 0, {Resort: 4, Skier: 1}: 0, {Resort: 3, Skier: 11}: 0,
		} {
			if got, err := s.Vertical(q); got != want || err != nil {
				t.Errorf("vertical of %+v: %d, %v; want %d", q, got, err, want)
			}
		}
		ids := map[ride.ID]bool{}
		if err := s.IDs(func(id ride.ID) error { ids[id] = true; return nil }); err != nil || len(ids) != rides || !ids[ride.KeyID("a")] {
			t.Errorf("%d ids, %v", len(ids), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// applied has a goroutine for each state bring all rides, each twice, and returns how many were new.
func applied(t *testing.T, rides int, states ...State) (sum int) {
	t.Helper()
	fresh := make([]int, len(states))
	var all sync.WaitGroup
	for n, s := range states {
		all.Go(func() {
			for i := range rides {
				r := someRide(string(rune('a'+i)), 1+i%10, 2)
				got, err := s.Apply([]ride.Ride{r, r})
				if err != nil {
					t.Error(err)
				}
				fresh[n] += got
			}
		})
	}
	all.Wait()
	for _, n := range fresh {
		sum += n
	}
	return sum
}

func TestConsumersThatShareADatabaseCountARideOnce(t *testing.T) {
	at := pgtest.Database(t)
	var states []State
	opened := make(chan State)
	for range 4 { // at once, as processes do
		go func() {
			s, err := OpenPostgres(at)
			if err != nil {
				t.Error(err)
			}
			opened <- s
		}()
	}
	for range 4 {
		s := <-opened
		if s == nil {
			t.FailNow()
		}
		states = append(states, s, s)
	}
	if sum := applied(t, 150, states...); sum != 150 {
		t.Errorf("%d rides were new", sum)
	}
	if got, err := states[0].Totals(); got != (Totals{Rides: 150, Skiers: 10, Counted: 150}) || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for i := 0; i < len(states); i += 2 {
		_ = states[i].Close()
	}
}

func TestADurableStateGoesOnWhereItEnded(t *testing.T) {
	for kind, name := range kinds {
		if kind == "memory" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			at := name(t)
			for round := range 3 {
				s, err := Open(at)
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
		})
	}
}

// The server ends every connection again and again while rides are brought: one whose outcome is not known is brought again,
// as a broker does, and counts once.
func TestWhatWasCountedWhenTheDatabaseWasLostCountsOnce(t *testing.T) {
	at := pgtest.Database(t)
	s, err := OpenPostgres(at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ended := make(chan struct{})
	var cutting sync.WaitGroup
	cutting.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
				pgtest.Exec(t, at, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
			}
		}
	})
	const rides = 400
	lost := 0
	for i := range rides {
		r := []ride.Ride{someRide(strconv.Itoa(i), 1+i%7, 1)}
		for _, err := s.Apply(r); err != nil; _, err = s.Apply(r) {
			lost++
		}
	}
	close(ended)
	cutting.Wait()
	if _, err := s.Totals(); err != nil {
		t.Log("asked again:", err) // on a connection that had been ended
	}
	if got, err := s.Totals(); got != (Totals{Rides: rides, Skiers: 7, Counted: rides}) || err != nil {
		t.Errorf("%+v, %v; the database was lost %d times", got, err, lost)
	}
	if lost == 0 {
		t.Error("the database was never lost")
	}
}

func TestAStateThatCannotBeHadIsNamedWithoutItsPassword(t *testing.T) {
	for at, says := range map[string]string{
		filepath.Join(t.TempDir(), "no", "such", "folder", "state.db"): "state in",
		"postgres://me:s3cret@127.0.0.1:1/rides":                       "127.0.0.1",
		"postgres://me:s3cret%zz@127.0.0.1:1/rides":                    "is no readable URL",
	} {
		if _, err := Open(at); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// source is a driver that delivers batches to the first thread.
type source struct {
	driver.Driver
	batches [][]driver.Received
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
	d := &source{batches: [][]driver.Received{{{Payload: a.Message()}, {Payload: []byte("x")}}, {{Payload: a.Message()}, {Payload: b.Message()}}}}
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

// In a folder such as /tmp another user may make the file, a link to one of root's, or a journal by which SQLite changes it.
func TestAStateOfWhichAnotherUserMadeAPartIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root can make files of another user")
	}
	const neighbour = 4711
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		path := filepath.Join(t.TempDir(), "state.db")
		if err := errors.Join(os.WriteFile(path+suffix, nil, 0o644), os.Lchown(path+suffix, neighbour, neighbour)); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path); err == nil || !strings.Contains(err.Error(), path+suffix+" belongs to another user") {
			t.Errorf("%q: %v, %v", suffix, s, err)
		}
	}
	precious, link := filepath.Join(t.TempDir(), "precious"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.WriteFile(precious, nil, 0o600), os.Symlink(precious, link), os.Lchown(link, neighbour, neighbour)); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(link); err == nil || !strings.Contains(err.Error(), link+" is a link that another user made") {
		t.Errorf("a link: %v, %v", s, err)
	}
	if info, err := os.Stat(precious); err != nil || info.Size() > 0 {
		t.Errorf("what it leads to has become %v, %v", info, err)
	}
}
