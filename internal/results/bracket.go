package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

// Bracket is the sustainable rate over repetitions. Each repetition searched for it and ended with two bounds: the highest rate that
// passed, and the lowest that failed. Low..High encloses the bounds of all searches. Searches that ended with 40k–42k, 41k–43k and
// 40k–41k messages per second have the median 40k and the bracket 40k..43k.
//
// A bracket is not an interval of the median, as that of a Summary is: it also reflects how close to each other the searches brought
// their bounds.
type Bracket struct {
	N      int       // searches that found a bound
	Passed []float64 // the highest rate that passed in each search, messages per second
	Median float64   // of Passed; NaN if N is 0
	Low    float64   // the least of Passed; NaN if N is 0
	High   float64   // the greatest rate with which a search ended as failed; +Inf if some search saw no rate fail; NaN if N is 0
}

// searchBounds are the bounds that one search ended with, messages per second.
type searchBounds struct {
	passed float64 // the highest rate that passed; 0 if none did
	failed float64 // the lowest rate that failed; +Inf if none did
}

// boundsOf reads the bounds of a search as records hold them: 0 if no rate passed, 0 if none failed. Nothing was found if both are 0:
// every trial was void.
func boundsOf(low, high float64) (b searchBounds, found bool) {
	if low == 0 && high == 0 {
		return searchBounds{}, false
	}
	if high == 0 {
		high = math.Inf(1)
	}
	return searchBounds{passed: low, failed: high}, true
}

// boundsIn reads the bounds of a record's search. Nothing is found in a record without a search.
func boundsIn(r store.Record) (b searchBounds, found bool) {
	if r.Result == nil || r.Result.Sustainable == nil {
		return searchBounds{}, false
	}
	return boundsOf(r.Result.Sustainable.Low, r.Result.Sustainable.High)
}

// Sustained gathers what the searches of records found.
func Sustained(records []store.Record) Bracket {
	var searches []searchBounds
	for _, r := range records {
		if b, found := boundsIn(r); found {
			searches = append(searches, b)
		}
	}
	return bracketOf(searches)
}

func bracketOf(searches []searchBounds) Bracket {
	if len(searches) == 0 {
		return Bracket{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	b := Bracket{N: len(searches)}
	for _, s := range searches {
		b.Passed = append(b.Passed, s.passed)
		b.High = max(b.High, s.passed, s.failed) // a rate may pass in a search in which a lower one failed
	}
	b.Median, b.Low = Summarize(b.Passed).Median, slices.Min(b.Passed)
	return b
}

// Summary is the bracket in the form of other figures, for those who show both.
func (b Bracket) Summary() Summary {
	return Summary{N: b.N, Median: b.Median, Low: b.Low, High: b.High}
}

// Cell shows the median and the bracket, even of a single search. It is blank if there was none.
func (b Bracket) Cell() document.Cell {
	if b.N == 0 {
		return document.Cell{}
	}
	return document.Cell{Kind: document.Interval, Number: b.Median, Low: b.Low, High: b.High}
}
