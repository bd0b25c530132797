package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

// Bracket is the sustainable rate over repetitions. Each repetition searched for it and ended with two bounds: the highest rate that
// passed, and the lowest that failed. Low..High encloses the bounds of all searches. It is not an interval of the median, as that of a
// Summary is: it also reflects how close to each other the searches brought their bounds.
type Bracket struct {
	N      int       // searches that found a bound
	Passed []float64 // the highest rate that passed in each search, messages per second
	Median float64   // of Passed; NaN if N is 0
	Low    float64   // the least of Passed; NaN if N is 0
	High   float64   // the greatest rate with which a search ended as failed; +Inf if some search saw no rate fail
}

// searchBounds are the bounds that one search ended with, messages per second.
type searchBounds struct {
	passing float64 // the highest rate that passed; 0 if none did
	failing float64 // the lowest rate that failed; 0 if none did
}

// Sustained gathers what the searches of records found. A search whose trials were all void found nothing.
func Sustained(records []store.Record) Bracket {
	var searches []searchBounds
	for _, r := range records {
		if r.Result != nil && !math.IsNaN(sustainableLow(r.Result)) {
			searches = append(searches, searchBounds{passing: r.Result.Sustainable.Low, failing: r.Result.Sustainable.High})
		}
	}
	return bracketOf(searches)
}

func bracketOf(searches []searchBounds) Bracket {
	var passed, failed []float64
	for _, s := range searches {
		passed = append(passed, s.passing)
		if s.failing == 0 {
			s.failing = math.Inf(1)
		}
		failed = append(failed, s.failing)
	}
	if len(searches) == 0 {
		return Bracket{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	return Bracket{
		N: len(searches), Passed: passed, Median: Summarize(passed).Median,
		Low: slices.Min(passed), High: max(slices.Max(passed), slices.Max(failed)),
	}
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
