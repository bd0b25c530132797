package hist

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestAQuantileBeyondWhatIsKnownHasNoUpperBound(t *testing.T) {
	h := New()
	h.RecordN(1e6, 90)
	h.RecordCensored(5e9, 10)
	s := h.Snapshot()
	if s.Count() != 100 || s.Censored() != 10 || s.Max() != 5e9 {
		t.Errorf("%d values, %d censored, max %d", s.Count(), s.Censored(), s.Max())
	}
	for q, known := range map[float64]bool{0: true, 0.5: true, 0.9: true, 0.901: false, 0.95: false, 1: false} {
		least, most := s.Quantile(q), s.QuantileAtMost(q)
		if known && most != least {
			t.Errorf("quantile %g: from %d to %d, want one value", q, least, most)
		}
		if !known && (most != Unbounded || least != 5e9) {
			t.Errorf("quantile %g: from %d to %d, want at least 5 s", q, least, most)
		}
	}
}

// The oracle tries what the censored values may have become: nothing more than their bounds, and without end.
func TestQuantilesOfCensoredValuesAgreeWithASortedList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		h, parts := New(), [2]*Histogram{New(), New()}
		var least, most []int64
		for i := range 1 + random.IntN(60) {
			v := random.Int64N(400) // below 512 a bucket holds a single value
			least = append(least, v)
			if random.IntN(3) == 0 {
				h.RecordCensored(v, 1)
				parts[i%2].RecordCensored(v, 1)
				v = Unbounded
			} else {
				h.Record(v)
				parts[i%2].Record(v)
			}
			most = append(most, v)
		}
		slices.Sort(least)
		slices.Sort(most)
		s, merged := h.Snapshot(), parts[0].Snapshot().Merge(parts[1].Snapshot())
		if !reflect.DeepEqual(s, merged) {
			t.Fatalf("merged, %+v is %+v", s, merged)
		}
		for rank := range least {
			q := (float64(rank) + 0.5) / float64(len(least))
			if s.Quantile(q) != least[rank] || s.QuantileAtMost(q) != most[rank] {
				t.Fatalf("rank %d of %v: %d to %d, want %d to %d", rank, least, s.Quantile(q), s.QuantileAtMost(q), least[rank], most[rank])
			}
		}
	}
}

func TestCensoredValuesSurviveJSONAndGrowAndSub(t *testing.T) {
	h := New()
	h.RecordN(1e6, 3)
	h.RecordCensored(2e6, 1)
	before := h.Snapshot()
	h.RecordCensored(7e6, 2)
	now := h.Snapshot()
	text, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	var back Snapshot
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, now) {
		t.Errorf("%s became %+v, %v", text, back, err)
	}
	if added := now.Sub(before); added.Count() != 2 || added.Censored() != 2 {
		t.Errorf("added: %+v", added)
	}
	other := New()
	other.Grow(Snapshot{}, before)
	other.Grow(before, now)
	if grown := other.Snapshot(); !reflect.DeepEqual(grown, now) {
		t.Errorf("grown to %+v, want %+v", grown, now)
	}
	forged := strings.Replace(string(text), `"c":"`, `"c":"ZA`, 1)
	if err := json.Unmarshal([]byte(forged), &back); err == nil {
		t.Errorf("%s was accepted, and has censored values that are not among its values", forged)
	}
}
