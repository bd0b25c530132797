// Package spans remembers which places of a stream, and which messages of producers, have been delivered. It knows no broker.
package spans

import (
	"cmp"
	"slices"
)

// Set is a set of numbers that come nearly in order, kept as ranges without gaps: a message that never comes costs one
// more range, and not every message after it. The zero value is empty. It belongs to one goroutine at a time.
type Set struct{ ranges []span } // ascending; no two of them touch

type span struct{ from, to uint64 } // both are in it

// Add puts n in and reports whether it is new.
func (s *Set) Add(n uint64) bool {
	at := s.behind(n)
	if at > 0 && n <= s.ranges[at-1].to {
		return false
	}
	before := at > 0 && s.ranges[at-1].to == n-1
	after := at < len(s.ranges) && s.ranges[at].from == n+1
	switch {
	case before && after:
		s.ranges[at-1].to = s.ranges[at].to
		s.ranges = slices.Delete(s.ranges, at, at+1)
	case before:
		s.ranges[at-1].to = n
	case after:
		s.ranges[at].from = n
	default:
		s.ranges = slices.Insert(s.ranges, at, span{n, n})
	}
	return true
}

// Has reports whether n is in the set.
func (s *Set) Has(n uint64) bool {
	at := s.behind(n)
	return at > 0 && n <= s.ranges[at-1].to
}

// Clear empties the set.
func (s *Set) Clear() { s.ranges = s.ranges[:0] }

// behind returns the index of the first range that begins behind n.
func (s *Set) behind(n uint64) int {
	if last := len(s.ranges) - 1; last >= 0 && s.ranges[last].from <= n { // nearly always
		return last + 1
	}
	at, found := slices.BinarySearchFunc(s.ranges, n, func(r span, n uint64) int { return cmp.Compare(r.from, n) })
	if found {
		at++
	}
	return at
}
