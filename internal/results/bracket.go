package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

// Bracket is the sustainable rate over repetitions. Each repetition searched for it and ended with two bounds: the highest
// rate that passed, and the lowest that failed. Three searches that ended with 40k–42k, 41k–43k and 40k–41k messages per
// second have the median 40k, of the rates that passed, and the bracket 40k..43k, which encloses all bounds.
//
// A bracket is not an interval of the median, as that of a Summary is: it also reflects how close to each other the searches
// brought their bounds.
type Bracket struct {
	N      int     // searches that found a bound; without any, the rates are NaN
	Median float64 // of the rates that passed, messages per second
	Low    float64 // the least of the rates that passed; 0 if some search saw none pass
	High   float64 // the greatest of all bounds, as a rule a rate that failed; +Inf if some search saw none fail
	Held   float64 // seconds for which each search has held its rate in one trial: the least; 0 if some search held none
}

// searchBounds are the bounds that one search ended with, messages per second.
type searchBounds struct {
	passed float64 // the highest rate that passed; 0 if none did
	held   float64 // seconds for which it was held in one trial
	failed float64 // the lowest rate that failed; +Inf if none did
}

// storedBounds reads the bounds of a search as records hold them: low is 0 if no rate passed, high is 0 if none failed. If both
// are 0 every trial was void, and it returns nil.
func storedBounds(low, high float64, heldNs int64) *searchBounds {
	if low == 0 && high == 0 {
		return nil
	}
	if high == 0 {
		high = math.Inf(1)
	}
	return &searchBounds{passed: low, failed: high, held: float64(heldNs) / 1e9}
}

// searchOf reads the bounds of a record's search. It returns nil if nothing was found, or nothing was searched.
func searchOf(r store.Record) *searchBounds {
	if r.Result == nil || r.Result.Sustainable == nil {
		return nil
	}
	s := r.Result.Sustainable
	b := storedBounds(s.Low, s.High, s.HeldNs)
	if b != nil && s.Open() {
		b.failed = math.Inf(1) // what failed there was not the broker
	}
	return b
}

// Searched reports whether any of the records holds a search for the sustainable rate.
func Searched(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return r.Result != nil && r.Result.Sustainable != nil })
}

// Sustained gathers what the searches of records found.
func Sustained(records []store.Record) Bracket {
	var searches []searchBounds
	for _, r := range records {
		if b := searchOf(r); b != nil {
			searches = append(searches, *b)
		}
	}
	return enclosing(searches)
}

func enclosing(searches []searchBounds) Bracket {
	if len(searches) == 0 {
		return Bracket{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	var passed []float64
	high, held := 0.0, searches[0].held
	for _, s := range searches {
		held = min(held, s.held)
		passed = append(passed, s.passed)
		high = max(high, s.passed, s.failed) // a rate may pass in a search in which a lower one failed
	}
	return Bracket{N: len(searches), Median: Summarize(passed).Median, Low: slices.Min(passed), High: high, Held: held}
}

// Summary is the bracket in the form of other figures, for those who show both.
func (b Bracket) Summary() Summary {
	return Summary{N: b.N, Median: b.Median, Low: b.Low, High: b.High}
}

// HeldCell shows for how long the rates were held. It is blank if none was.
func (b Bracket) HeldCell() document.Cell {
	if b.Held == 0 {
		return document.Cell{}
	}
	return document.Number(b.Held)
}

// Cell shows the median and the bracket, even of a single search. It is blank if there was none.
func (b Bracket) Cell() document.Cell {
	if b.N == 0 {
		return document.Cell{}
	}
	return document.Cell{Kind: document.Interval, Number: b.Median, Low: b.Low, High: b.High, AtLeast: math.IsInf(b.High, 1)}
}
