package main

import "math/bits"

// latencies is a histogram with 16 steps to each power of two: as little as a bare loop can do and still know its
// median within some percent. It belongs to one goroutine.
type latencies struct{ counts [64 * 16]int64 }

func (l *latencies) add(ns int64) {
	v := uint64(max(ns, 16))
	shift := bits.Len64(v) - 5
	l.counts[shift*16+int(v>>shift)-16]++
}

// quantile is the lower edge of the step that holds it; 0 where nothing was added.
func (l *latencies) quantile(q float64) int64 {
	var total, below int64
	for _, n := range l.counts {
		total += n
	}
	for i, n := range l.counts {
		if below += n; n > 0 && float64(below) >= q*float64(total) {
			return int64(i%16+16) << (i / 16)
		}
	}
	return 0
}
