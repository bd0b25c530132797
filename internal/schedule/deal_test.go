package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestClientsSendWhatTheirProducersWouldHaveSent(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "producers")
		d := Deal{rapid.IntRange(1, n).Draw(t, "clients"), n}
		total := rapid.Int64Range(0, 300).Draw(t, "arrivals")
		whole, err := Bursts(100, 2000, time.Second, 37*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		limits := d.Limits(whole, total)
		var rate float64
		var all int64
		for c, limit := range limits {
			s, turns := Sequential(d.Share(whole, c)), d.Turns(whole, c)
			var mine []int // the client's producers, in the order of their turns
			for k := c; k < n; k += d.Clients {
				mine = append(mine, k)
			}
			all += limit
			for i := range limit {
				k := mine[turns.Of(i)]
				if got, want := s.At(i), whole.At(int64(k)+i/int64(len(mine))*int64(n)); got != want || k != mine[int(i)%len(mine)] {
					t.Fatalf("arrival %d of client %d is at %d, its producer %d sends at %d", i, c, got, k, want)
				}
			}
			if end := whole.At(total); s.Count(end) != limit {
				t.Fatalf("client %d has %d arrivals of %d, its schedule counts %d", c, limit, total, s.Count(end))
			}
			rate += s.Rate(0)
		}
		if all != total {
			t.Fatalf("%d of %d arrivals were dealt", all, total)
		}
		if rate < 1999.999 || rate > 2000.001 {
			t.Fatalf("all clients together send %g/s of 2000/s", rate)
		}
	})
}

// poissonDeal are the arrivals before an offset of every producer, in the order of clients.
func poissonDeal(p Schedule, d Deal, before int64) [][]int64 {
	var producers [][]int64
	for c := range d.Clients {
		s, turns := Sequential(d.Share(p, c)), d.Turns(p, c)
		mine := make([][]int64, d.producersOf(c))
		for i := int64(0); s.At(i) < before; i++ {
			k := turns.Of(i)
			mine[k] = append(mine[k], s.At(i))
		}
		producers = append(producers, mine...)
	}
	return producers
}

func TestManyPoissonProducersAreOnePoissonProcessEachAndTogether(t *testing.T) {
	const n, rate, length = 1000, 20_000, 50 * int64(time.Second) // a million arrivals, a thousand each
	p := must(Poisson(rate, 7))
	for _, clients := range []int{1, 30, 333, n} {
		producers := poissonDeal(p, Deal{clients, n}, length)
		var own, windows, neighbours []float64 // distances, and counts per window of ten arrivals each
		for k, arrivals := range producers {
			last := int64(0)
			for _, at := range arrivals {
				own, last = append(own, float64(at-last)/1e9*rate/n), at
			}
			windows = append(windows, counts(arrivals, length/100, 100)...)
			if k > 0 {
				a, b := counts(arrivals, length/100, 100), counts(producers[k-1], length/100, 100)
				for i := range a {
					neighbours = append(neighbours, (a[i]-10)*(b[i]-10))
				}
			}
		}
		exponential(t, "distances of each producer", clients, own, 2*float64(n)/float64(len(own))) // those cut off at the end
		dispersed(t, "windows of each producer", clients, windows, 10)
		if r, bound := average(neighbours)/10, 5/math.Sqrt(float64(len(neighbours))); math.Abs(r) > bound {
			t.Errorf("%d clients: counts of neighbours correlate, r = %v, allowed %v", clients, r, bound)
		}
		all := slices.Sorted(func(yield func(int64) bool) {
			for _, arrivals := range producers {
				for _, at := range arrivals {
					if !yield(at) {
						return
					}
				}
			}
		})
		var together []float64
		for i, at := range all[1:] {
			together = append(together, float64(at-all[i])/1e9*rate)
		}
		exponential(t, "distances of all together", clients, together, 1e-4) // their resolution is 1 ns in 50 µs
		dispersed(t, "windows of all together", clients, counts(all, length/1000, 1000), rate*50/1000)
	}
}

func counts(arrivals []int64, window int64, n int) []float64 {
	out := make([]float64, n)
	for _, at := range arrivals {
		out[at/window]++
	}
	return out
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// exponential checks the Kolmogorov-Smirnov distance from an exponential distribution of mean 1.
func exponential(t *testing.T, what string, clients int, values []float64, slack float64) {
	t.Helper()
	slices.Sort(values)
	ks, n := 0.0, float64(len(values))
	for i, x := range values {
		f := 1 - math.Exp(-x)
		ks = max(ks, f-float64(i)/n, float64(i+1)/n-f)
	}
	if bound := 2.2/math.Sqrt(n) + slack; ks > bound || n < 900_000 {
		t.Errorf("%d clients: %v %s are %v away from an exponential distribution, allowed %v", clients, n, what, ks, bound)
	}
}

// dispersed checks that counts have a mean, and its variance.
func dispersed(t *testing.T, what string, clients int, values []float64, mean float64) {
	t.Helper()
	n, squares := float64(len(values)), 0.0
	for _, x := range values {
		squares += (x - mean) * (x - mean)
	}
	if got := average(values); math.Abs(got-mean) > 5*math.Sqrt(mean/n) {
		t.Errorf("%d clients: %s: mean count %v, want %v", clients, what, got, mean)
	}
	if got := squares / n / mean; math.Abs(got-1) > 5*math.Sqrt((2+1/mean)/n) {
		t.Errorf("%d clients: %s: variance is %v of the mean, want 1", clients, what, got)
	}
}

func TestAllClientsOfAPoissonProcessAreCountedAndLimitedExactly(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "producers")
		d := Deal{rapid.IntRange(1, n).Draw(t, "clients"), n}
		rate := rapid.SampledFrom([]float64{0.5, 1000, 1e8, 1e9}).Draw(t, "rate") // at the highest, many at one nanosecond
		p := must(Poisson(rate, rapid.Uint64Range(0, 5).Draw(t, "seed")))
		total := rapid.Int64Range(0, 5000).Draw(t, "arrivals")
		var all []int64
		for c, limit := range d.Limits(p, total) {
			s := Sequential(d.Share(p, c))
			for i := range limit {
				all = append(all, s.At(i))
			}
		}
		slices.Sort(all)
		if int64(len(all)) != total {
			t.Fatalf("%d of %d arrivals were dealt", len(all), total)
		}
		if total == 0 {
			return
		}
		last := all[total-1]
		counter := d.Counter(p)
		for range 10 {
			at := rapid.Int64Range(-1, last).Draw(t, "offset")
			before, _ := slices.BinarySearch(all, at)
			if got := counter.Count(at); got != int64(before) {
				t.Fatalf("%d arrivals counted before %d, there are %d", got, at, before)
			}
		}
		if got := counter.Count(last + 1); got < total {
			t.Fatalf("%d arrivals by the time of the last of %d", got, total)
		}
	})
}

// Where the arrivals around an index are looked for is a guess. One that is wrong by orders of magnitude costs time, and
// changes nothing.
func TestAWrongGuessOfWhereAnArrivalLiesChangesNothing(t *testing.T) {
	d := Deal{7, 20}
	p := must(Poisson(1000, 3)).(poisson)
	for _, total := range []int64{1, 2, 500, 3000} {
		want := p.superpose(d).limits(total)
		for _, wrong := range []float64{0.001, 0.1, 0.5, 2, 10, 1000} {
			s := p.superpose(d)
			s.rate *= wrong
			if got := s.limits(total); !slices.Equal(got, want) {
				t.Errorf("of the first %d arrivals %v are the clients', want %v (a rate taken for %g times what it is)", total, got, want, wrong)
			}
		}
	}
}

// At the lowest rate some thousand messages are sent until the end of time. Whose a million are that never come is of no
// matter, but each client has all of those that do.
func TestOfMoreArrivalsThanEverComeEachClientHasAllOfItsOwn(t *testing.T) {
	d := Deal{3, 5}
	p := must(Poisson(1e-6, 2))
	limits := d.Limits(p, 1_000_000)
	for c, limit := range limits {
		if all := d.Share(p, c).Count(Never); limit < all || all == 0 {
			t.Errorf("client %d has %d of %v arrivals, %d ever come", c, limit, limits, all)
		}
	}
}

func TestAClientThatIsNotDealtToPanics(t *testing.T) {
	for _, c := range []struct {
		deal   Deal
		client int
	}{{Deal{2, 4}, -1}, {Deal{2, 4}, 2}, {Deal{5, 4}, 0}} {
		for name, s := range map[string]Schedule{"constant": must(Constant(1)), "poisson": must(Poisson(1, 1))} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("client %d of %+v has a share of a %s load", c.client, c.deal, name)
					}
				}()
				c.deal.Share(s, c.client)
			}()
		}
	}
}

// drawn counts the random numbers that a source gave.
type drawn struct {
	source rand.Source
	n      *int
}

func (d drawn) Uint64() uint64 { *d.n++; return d.source.Uint64() }

func TestAThousandPoissonProducersDrawLittleMoreThanOne(t *testing.T) {
	const rate, length = 20_000, 10 * int64(time.Second)
	p := must(Poisson(rate, 1))
	draws := func(clients int) (n int) {
		d := Deal{clients, clients}
		for c := range clients {
			w := d.Share(p, c).(poisson).walk()
			w.random.rng = rand.New(drawn{&w.random.source, &n})
			for i := int64(0); w.At(i) < length; i++ {
			}
		}
		return n
	}
	one, thousand := draws(1), draws(1000)
	// A block more for each, of 64 arrivals, besides the length of each block.
	if thousand > one*5/4+1000*2*64 {
		t.Errorf("one producer takes %d draws, a thousand together take %d", one, thousand)
	}
	if many := draws(10_000); many > one*3/2+10_000*2*16 {
		t.Errorf("one producer takes %d draws, ten thousand together take %d", one, many)
	}
}

func TestCountingManyPoissonProducersAllocatesNothing(t *testing.T) {
	counter := Deal{1000, 1000}.Counter(must(Poisson(20_000, 1)))
	at := int64(0)
	if n := testing.AllocsPerRun(100, func() { at += int64(20 * time.Millisecond); counter.Count(at) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCountingTenThousandPoissonProducersEvery20ms(b *testing.B) {
	counter := Deal{10_000, 10_000}.Counter(must(Poisson(20_000, 1)))
	at := int64(0)
	for b.Loop() {
		at += int64(20 * time.Millisecond)
		counter.Count(at)
	}
}
