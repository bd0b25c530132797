package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// drawn is everything that a repetition of a Poisson load draws at random.
type drawn struct {
	rate, third [3]int64 // offsets of the first arrivals of a fixed load, and of load 3 of a search or curve
	keys        worker.Keys
	delay       worker.Delay
	payload     int64
}

func drawsOf(t *testing.T, broker string, seed int64, repetition int) drawn {
	t.Helper()
	s := study.Defaults()
	s.Broker, s.Seed, s.Load = broker, seed, study.Load{Shape: "poisson", Rate: 100}
	s.KeyDistributor, s.Keys, s.ConsumerDelay, s.ConsumerDelays = "RANDOM", 10, 1000, "exponential"
	r := Blank(study.Run{Point: &study.Point{ID: s.ID(), Spec: s}, Repetition: repetition}, store.Host{}, "")
	b := &bench{spec: s, record: &r}
	fixed, err := b.schedule()
	third, err3 := b.arrivals(100, 3)
	if err != nil || err3 != nil {
		t.Fatal(err, err3)
	}
	p := b.plan()
	return drawn{rate: first(fixed), third: first(third), keys: p.Keys, delay: p.Delay, payload: p.Payload.Seed}
}

func first(s schedule.Schedule) (at [3]int64) {
	for i := range at {
		at[i] = s.At(int64(i))
	}
	return at
}

func TestRepetitionsDrawAnewAndBrokersOfOneRepetitionAlike(t *testing.T) {
	one := drawsOf(t, "kafka", 1, 1)
	if other := drawsOf(t, "nats", 1, 1); other != one {
		t.Errorf("brokers of one repetition draw %+v and %+v, want the same", one, other)
	}
	if again := drawsOf(t, "kafka", 1, 1); again != one {
		t.Errorf("a repetition that is run again draws %+v, at first %+v", again, one)
	}
	for name, other := range map[string]drawn{"another repetition": drawsOf(t, "kafka", 1, 2), "another seed": drawsOf(t, "kafka", 2, 1)} {
		if one.rate == other.rate || one.third == other.third || one.keys == other.keys || one.delay == other.delay || one.payload == other.payload {
			t.Errorf("%s draws %+v as well as %+v", name, one, other)
		}
	}
	if one.rate == one.third {
		t.Error("load 3 of a repetition replays its first load")
	}
}

// Records are read by programs that hold numbers as 64-bit floats.
func TestASeedIsExactAsAFloat(t *testing.T) {
	for repetition := range 1000 {
		if seed := seedOf(1, repetition); seed < 0 || int64(float64(seed)) != seed {
			t.Fatalf("seed %d of repetition %d", seed, repetition)
		}
	}
}
