package consumer

import (
	"maps"
	"slices"
	"sync"

	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
)

const shards = 64

// memory is a map of skiers that many threads write to; it ends with the process.
type memory struct {
	skiers [shards]skiers
	seen   [shards]seen
}

type skiers struct {
	mu sync.Mutex
	of map[int]*record
}

// record is the state of one skier.
type record struct {
	rides int64
	days  map[day]int64 // vertical
}

type day struct{ resort, season, day int }

type seen struct {
	mu  sync.Mutex
	ids map[ride.ID]struct{}
}

// NewMemory returns a state that ends with the process.
func NewMemory() State {
	m := &memory{}
	for i := range shards {
		m.skiers[i].of = map[int]*record{}
		m.seen[i].ids = map[ride.ID]struct{}{}
	}
	return m
}

func (m *memory) Apply(rides []ride.Ride) (fresh int, err error) {
	for i := range rides {
		r := &rides[i]
		s := &m.seen[r.ID[0]%shards]
		// Held until the skier's record has it too: a second delivery must not be acknowledged before the first one counts.
		s.mu.Lock()
		if _, again := s.ids[r.ID]; !again {
			s.ids[r.ID] = struct{}{}
			m.count(r)
			fresh++
		}
		s.mu.Unlock()
	}
	return fresh, nil
}

func (m *memory) count(r *ride.Ride) {
	s := &m.skiers[r.Skier%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of[r.Skier]
	if of == nil {
		of = &record{days: map[day]int64{}}
		s.of[r.Skier] = of
	}
	of.rides++
	of.days[day{r.Resort, r.Season, r.Day}] += r.Vertical()
}

func (m *memory) Vertical(q server.Query) (metres int64, err error) {
	s := &m.skiers[q.Skier%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.of[q.Skier]; of != nil {
		for d, v := range of.days {
			if d.resort == q.Resort && (q.Season == 0 || d.season == q.Season) && (q.Day == 0 || d.day == q.Day) {
				metres += v
			}
		}
	}
	return metres, nil
}

func (m *memory) Totals() (t Totals, err error) {
	for i := range shards {
		s := &m.skiers[i]
		s.mu.Lock()
		t.Skiers += int64(len(s.of))
		for _, of := range s.of {
			t.Counted += of.rides
		}
		s.mu.Unlock()
		seen := &m.seen[i]
		seen.mu.Lock()
		t.Rides += int64(len(seen.ids))
		seen.mu.Unlock()
	}
	return t, nil
}

func (m *memory) IDs(each func(ride.ID) error) error {
	for i := range shards {
		s := &m.seen[i]
		s.mu.Lock()
		list := slices.Collect(maps.Keys(s.ids))
		s.mu.Unlock()
		for _, id := range list {
			if err := each(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memory) Close() error { return nil }
