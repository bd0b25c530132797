package sim

import (
	"math"
	"slices"
	"testing"
)

func TestServiceTakesExactlyOneOverCapacityWhileBusy(t *testing.T) {
	for _, capacity := range []int64{1, 3, 500, 30_000, 999_999, 1_000_000, 7_777_777} {
		s := service{capacity: capacity}
		const n = 100_000
		var last int64
		for range n {
			last = s.serve(0)
		}
		// n·10⁹/capacity, split so that it doesn't overflow.
		if want := n/capacity*second + n%capacity*second/capacity; last != want {
			t.Errorf("capacity %d: %d messages took %d ns, want %d", capacity, n, last, want)
		}
	}
}

func TestAServiceWarmsUpInAStraightLine(t *testing.T) {
	const capacity, warming = 1000, 500
	s := service{capacity: capacity, warming: warming}
	var before int64
	for i := range int64(2 * warming) {
		at := s.serve(0)
		want := second / capacity
		if i < warming {
			want += (cold - 1) * want * (warming - i) / warming
		}
		if took := at - before; took < want-1 || took > want+1 {
			t.Fatalf("message %d took %d ns, want %d", i, took, want)
		}
		before = at
	}
}

func TestServiceIsIdleBetweenSparseArrivals(t *testing.T) {
	s := service{capacity: 1000}
	for _, c := range []struct{ arrival, departure int64 }{
		{5_000_000, 6_000_000}, {5_500_000, 7_000_000}, {7_000_000, 8_000_000}, {20_000_000, 21_000_000},
	} {
		if got := s.serve(c.arrival); got != c.departure {
			t.Errorf("arrival %d departs at %d, want %d", c.arrival, got, c.departure)
		}
	}
}

func TestBrokerTimeStandsStillInAFreeze(t *testing.T) {
	periodic := freezes{first: 100, length: 10, period: 50}
	for _, c := range []struct {
		f            freezes
		real, broker int64
		frozen       bool
	}{
		{freezes{}, 70, 70, false},
		{freezes{first: 100, length: 10}, 99, 99, false},
		{freezes{first: 100, length: 10}, 100, 100, true},
		{freezes{first: 100, length: 10}, 109, 100, true},
		{freezes{first: 100, length: 10}, 110, 100, false},
		{freezes{first: 100, length: 10}, 1000, 990, false},
		{periodic, 105, 100, true},
		{periodic, 149, 139, false},
		{periodic, 155, 140, true},
		{periodic, 215, 190 - 5, false},
	} {
		if got := c.f.broker(c.real); got != c.broker {
			t.Errorf("%+v: broker time at %d is %d, want %d", c.f, c.real, got, c.broker)
		}
		if got := c.f.frozen(c.real); got != c.frozen {
			t.Errorf("%+v: frozen at %d is %v", c.f, c.real, got)
		}
	}
	for real := range int64(400) {
		if periodic.frozen(real) {
			continue
		}
		if back := periodic.real(periodic.broker(real)); back != real {
			t.Errorf("real time %d comes back as %d", real, back)
		}
	}
}

func TestLatenciesFollowTheirDistribution(t *testing.T) {
	const n = 200_000
	draw := func(distribution string) []float64 {
		d := newDelay(settings{latency: 1_000_000, distribution: distribution, sigma: 0.5, seed: 7})
		all := make([]float64, n)
		for i := range all {
			all[i] = float64(d.draw())
		}
		slices.Sort(all)
		return all
	}
	// 200,000 draws from a fixed seed: quantiles within 2 %.
	for _, c := range []struct {
		distribution string
		quantile     float64
		want         float64
	}{
		{constant, 0.01, 1e6},
		{constant, 0.99, 1e6},
		{exponential, 0.5, 1e6 * math.Ln2},
		{exponential, 0.99, 1e6 * math.Log(100)},
		{lognormal, 0.5, 1e6},
		{lognormal, 0.99, 1e6 * math.Exp(0.5*2.3263)},
	} {
		got := draw(c.distribution)[int(c.quantile*n)]
		if math.Abs(got/c.want-1) > 0.02 {
			t.Errorf("%s: quantile %v is %.0f, want %.0f", c.distribution, c.quantile, got, c.want)
		}
	}
	if !slices.Equal(draw(lognormal), draw(lognormal)) {
		t.Error("the same seed draws other latencies")
	}
}

func TestQueueByDueTimeComesOutSorted(t *testing.T) {
	d := newDelay(settings{latency: 1000, distribution: exponential, seed: 3})
	q := queue{byDue: true}
	var got []int64
	for i := range 5000 {
		q.push(entry{due: int64(i) + d.draw()})
		if i%3 == 2 {
			q.pop()
		}
	}
	for q.len > 0 {
		got = append(got, q.pop().due)
	}
	if !slices.IsSorted(got) || len(got) != 5000-1666 {
		t.Errorf("%d entries, sorted: %v", len(got), slices.IsSorted(got))
	}
}

func TestConsumersShareTheirPartitions(t *testing.T) {
	for _, c := range []struct{ partitions, consumers int }{{1, 1}, {1, 3}, {4, 2}, {2, 5}, {3, 3}} {
		all := make([]*consumer, c.consumers)
		for i := range all {
			all[i] = &consumer{}
		}
		busy := map[*consumer]bool{}
		for p := range c.partitions {
			q := queue{partition: p, partitions: c.partitions, consumers: all}
			for range c.consumers {
				busy[q.reader()] = true
				q.turn++
			}
		}
		if want := c.consumers; len(busy) != want {
			t.Errorf("%d of %d consumers read %d partitions", len(busy), want, c.partitions)
		}
	}
}
