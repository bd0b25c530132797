package worker

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
)

// samplesOf returns the samples, ten a second, of a worker that sends a message a millisecond and began at a time. latency returns the
// latency of message i in ns.
func samplesOf(from int64, ms int, latency func(i int) int64) (list []Sample) {
	h := hist.New()
	for i := 1; i <= ms; i++ {
		h.Record(latency(i))
		if i%100 != 0 {
			continue
		}
		s := Sample{At: from + int64(i)*1e6, Sending: true, Due: int64(i), Unconfirmed: 3, Undelivered: 5, Count: measure.Count{Sent: int64(i), Received: int64(i - 5)}}
		if i%500 == 0 {
			s.Latency = &Latency{EndToEnd: h.Snapshot(), Service: h.Snapshot()}
		}
		list = append(list, s)
	}
	return list
}

func TestQuantilesOfSeveralAgentsAreThoseOfAllTheirMessages(t *testing.T) {
	fast := func(i int) int64 { return int64(i%500)*1000 + 1 }
	slow := func(i int) int64 { return int64(time.Second) + int64(i%500)*1000 }
	a, b := samplesOf(1e9, 3000, fast), samplesOf(1e9+7e6, 3000, slow)
	j := NewJoint(2)
	var out []Sample
	for i := 0; i < len(a); i += 5 { // half a second of one, then of the other, as agents send them
		out = append(out, j.Add(0, a[i:i+5])...)
		out = append(out, j.Add(1, b[i:i+5])...)
	}
	out = append(out, j.Rest()...)
	if len(out) != len(a) {
		t.Errorf("%d samples of %d rounds", len(out), len(a))
	}
	half := hist.New() // what both recorded in half a second
	for i := range 500 {
		half.Record(fast(i))
		half.Record(slow(i))
	}
	want := half.Snapshot()
	for i, s := range out {
		n := int64(100 * (i + 1))
		if s.Count.Sent != 2*n || s.Due != 2*n || s.Unconfirmed != 6 || s.Undelivered != 10 || s.Backlog != 10 || !s.Sending || s.At != b[i].At {
			t.Errorf("sample %d: %+v", i, s)
		}
		if q := s.EndToEnd; i >= 4 && (q.Count != 1000 || q.P50 != want.Quantile(0.5) || q.P99 != want.Quantile(0.99)) {
			t.Errorf("sample %d: %+v, want p50 %d and p99 %d", i, q, want.Quantile(0.5), want.Quantile(0.99))
		}
	}
	if last := out[len(out)-1].Latency; last == nil || last.EndToEnd.Count() != 6000 || last.Service.Count() != 6000 {
		t.Errorf("latencies of the whole trial: %+v", last)
	}
	kept := []Sample{{At: 1e9}, {At: 1e9 + 600e6}, {At: 9e9}}
	j.SetQuantiles(kept)
	if kept[0].EndToEnd.Count != 0 || kept[1].EndToEnd.P99 != want.Quantile(0.99) || kept[2].EndToEnd.Count != 1000 {
		t.Errorf("%+v", kept)
	}
}

func TestASilentAgentHoldsUpNobodyForLongAndNothingOfItIsLost(t *testing.T) {
	one := func(int) int64 { return 1 }
	a, b := samplesOf(1e9, 5000, one), samplesOf(1e9, 5000, one)
	j := NewJoint(2)
	out := slices.Concat(j.Add(0, a[:10]), j.Add(1, b[:10]))
	if n := len(out); n < 9 {
		t.Fatalf("%d of 10 rounds", n)
	}
	if early := j.Add(0, a[10:20]); len(early) > 1 {
		t.Errorf("%d samples without the other agent, which has been silent for a second", len(early))
	}
	alone := j.Add(0, a[20:30])
	if n := len(alone); n < 15 || alone[n-1].Count.Sent < 1000+2500 {
		t.Errorf("%d samples without an agent that is silent for two seconds", n)
	}
	rest := slices.Concat(j.Add(1, b[10:30]), j.End(1), j.Add(0, a[30:]), j.Rest())
	last := rest[len(rest)-1]
	if last.Count.Sent != 5000+3000 || last.At != a[49].At || last.Latency.EndToEnd.Count() != 5000+3000 {
		t.Errorf("%+v", last)
	}
	all := slices.Concat(out, alone, rest)
	if !slices.IsSortedFunc(all, func(a, b Sample) int { return int(a.At - b.At) }) {
		t.Error("the samples are out of order")
	}
}

func TestAMergedOutcomeHasAsManySamplesAsItsPartsAndGoesOnWhereOneStoodStill(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	part := func() (list []Sample) {
		for i := range 200 {
			list = append(list, Sample{At: 1e9 + int64(i)*20e6 + rng.Int64N(3e6), Phase: measure.Measured, Sending: true, Due: int64(i), Count: measure.Count{Received: int64(i)}})
		}
		return list
	}
	still := slices.Delete(part(), 50, 150)
	out := Merged([]Outcome{{From: 1e9, Until: 5e9, Samples: still}, {From: 1e9, Until: 5e9, Samples: part()}})
	if n := len(out.Samples); n < 195 || n > 220 {
		t.Errorf("%d samples", n)
	}
	if last := out.Samples[len(out.Samples)-1]; last.Due != 398 {
		t.Errorf("%+v", last)
	}
	for _, s := range out.DeliverySilences {
		if s.To-s.From > int64(200*time.Millisecond) {
			t.Errorf("a silence of %s, although one part received all the time", time.Duration(s.To-s.From))
		}
	}
}

// The example of Joint.
func TestAJointSampleAddsTheLastSamplesOfAllParts(t *testing.T) {
	sent := func(ms, n int64) Sample { return Sample{At: ms * 1e6, Count: measure.Count{Sent: n}} }
	j := NewJoint(2)
	got := slices.Concat(j.Add(0, []Sample{sent(20, 10), sent(40, 20), sent(60, 30)}), j.Add(1, []Sample{sent(23, 7), sent(62, 21)}), j.Rest())
	want := []Sample{sent(23, 17), sent(40, 27), sent(62, 51)}
	if len(got) != len(want) {
		t.Fatalf("%d samples, want %d", len(got), len(want))
	}
	for i, s := range got {
		if s.At != want[i].At || s.Count != want[i].Count {
			t.Errorf("sample %d: at %d ns, %+v; want %d ns, %+v", i, s.At, s.Count, want[i].At, want[i].Count)
		}
	}
}
