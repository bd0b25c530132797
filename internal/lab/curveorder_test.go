package lab

import (
	"fmt"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

// offer offers rates in an order, on a broker that carries 5,000/s and needs longer to drain rates from spills on. It returns them as offered.
func offer(o *curveOrder, spills float64) (rates []float64) {
	undrained := false
	for len(o.waiting) > 0 {
		i, isLast := o.next()
		if isLast != (len(o.waiting) == 0) {
			panic("the last rate is not known as such")
		}
		rate := o.rates[i].rate
		rates = append(rates, rate)
		status := store.OK
		if undrained {
			status = store.Void
		} else if rate > 5000 {
			status = store.Failed
		}
		o.ended(status, undrained)
		undrained = !undrained && rate >= spills
	}
	return rates
}

func ratesOf(rates ...float64) (list []curveRate) {
	for _, r := range rates {
		list = append(list, curveRate{rate: r})
	}
	return list
}

func TestTheRatesOfACurveAreOfferedInAnOrderThatEachRepetitionDraws(t *testing.T) {
	const n = 4
	firsts, orders := map[float64]int{}, map[string]bool{}
	for repetition := range 400 {
		got := offer(newCurveOrder(ratesOf(1000, 2000, 3000, 4000), seedOf(1, repetition)), 1e9)
		if again := offer(newCurveOrder(ratesOf(1000, 2000, 3000, 4000), seedOf(1, repetition)), 1e9); !slices.Equal(got, again) {
			t.Fatalf("repetition %d: %v, then %v", repetition, got, again)
		}
		firsts[got[0]]++
		orders[fmt.Sprint(got)] = true
		if slices.Sort(got); !slices.Equal(got, []float64{1000, 2000, 3000, 4000}) {
			t.Fatalf("repetition %d offers %v", repetition, got)
		}
	}
	for rate, times := range firsts {
		if times < 60 || times > 140 {
			t.Errorf("%g/s comes first in %d of 400 repetitions, want about 100", rate, times)
		}
	}
	if len(firsts) != n || len(orders) != 2*3*4 {
		t.Errorf("%d rates come first, in %d orders", len(firsts), len(orders))
	}
}

func TestAfterARateThatFailedTheHigherOnesComeLast(t *testing.T) {
	for seed := range int64(200) {
		drawn := newCurveOrder(ratesOf(1000, 2000, 4000, 8000, 16000, 32000), seed)
		plan := slices.Clone(drawn.waiting)
		got := offer(drawn, 1e9)
		first := slices.IndexFunc(got, func(r float64) bool { return r > 5000 })
		var want []float64
		for _, i := range plan {
			if r := drawn.rates[i].rate; r <= 5000 || r < got[first] {
				want = append(want, r)
			}
		}
		want = slices.DeleteFunc(want, func(r float64) bool { return slices.Contains(got[:first+1], r) })
		lower := got[first+1 : first+1+len(want)]
		// An overload among them puts nothing off but higher ones.
		if !slices.Equal(atMost(5000, lower), atMost(5000, want)) {
			t.Errorf("%v after %g/s has failed, want %v as drawn", lower, got[first], want)
		}
		if rest := got[first+1+len(want):]; !slices.IsSorted(rest) {
			t.Errorf("%v: higher rates don't rise", got)
		}
	}
}

func atMost(most float64, rates []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(rates), func(r float64) bool { return r > most })
}

func TestARateThatIsDisturbedByTheOneBeforeIsOfferedOnceMore(t *testing.T) {
	o := newCurveOrder(ratesOf(1000, 2000, 4000, 8000), 0)
	o.waiting = []int{3, 0, 2, 1}
	if got := offer(o, 8000); !slices.Equal(got, []float64{8000, 1000, 1000, 4000, 2000}) {
		t.Errorf("offered %v", got)
	}
	o = newCurveOrder(ratesOf(1000, 8000), 0)
	o.waiting = []int{1, 0}
	for range 4 {
		o.next()
		o.ended(store.Void, true)
	}
	if len(o.waiting) != 0 {
		t.Errorf("a rate that is always disturbed is offered for ever: %v", o.offered)
	}
}
