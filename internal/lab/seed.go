package lab

import "github.com/brokermark/brokermark/internal/schedule"

// Arrivals of Poisson loads, exponential consumer delays, keys, and the contents and choice of payloads are drawn at random. Each
// repetition draws anew; all points of one repetition draw the same, so that what differs between two brokers is not their luck.

// seedOf derives the seed of the part'th part of a whole that has a seed: of repetition 3 of a spec, or of load 3 of a
// repetition. It is Mix(Mix(seed) + part), of which the upper 53 bits are kept: readers of JSON hold them exactly.
func seedOf(seed int64, part int) int64 {
	return int64(schedule.Mix(schedule.Mix(uint64(seed))+uint64(part)) >> 11)
}
