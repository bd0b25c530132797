package hist

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// snapshotJSON is the form of a Snapshot in JSON: {"n":3,"min":5,"max":1000,"b":"BgLvBQE="}. JSON holds bytes in base64.
type snapshotJSON struct {
	N       int64  `json:"n"`   // how many values there are
	Min     int64  `json:"min"` // the smallest, ns
	Max     int64  `json:"max"` // the largest, ns
	Buckets []byte `json:"b"`   // see pack
	// Censored are the buckets of those values that are lower bounds, packed likewise.
	Censored []byte `json:"c,omitempty"`
}

// MarshalJSON writes the form of snapshotJSON. An empty snapshot is {"n":0}.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	if s.n == 0 {
		return []byte(`{"n":0}`), nil
	}
	return json.Marshal(snapshotJSON{N: s.n, Min: s.min, Max: s.max, Buckets: s.buckets.pack(), Censored: s.censored.pack()})
}

// UnmarshalJSON reads the form that MarshalJSON writes. It refuses anything that no histogram can have written.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	var in snapshotJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	all, err := unpack(in.Buckets)
	if err != nil {
		return fmt.Errorf("histogram buckets: %w", err)
	}
	censored, err := unpack(in.Censored)
	if err != nil {
		return fmt.Errorf("histogram buckets of censored values: %w", err)
	}
	out := Snapshot{buckets: all, censored: censored}
	out.recount(in.Min, in.Max)
	if known := all.less(censored).count(); known != out.n-censored.count() {
		return errors.New("histogram: it has censored values that are not among its values")
	}
	if in.N != out.n || in.Min != out.min || in.Max != out.max {
		return fmt.Errorf("histogram: n %d, min %d, max %d contradict the buckets, which allow n %d, min %d, max %d",
			in.N, in.Min, in.Max, out.n, out.min, out.max)
	}
	*s = out
	return nil
}

// pack writes the buckets that are not empty as unsigned varints, two for each: its distance from the one before (the
// first counts from bucket −1), and its count. So 5 values in bucket 2 and 7 in bucket 3 are the bytes 3 5 1 7.
func (all buckets) pack() []byte {
	packed := make([]byte, 0, 3*len(all)) // most distances take one byte, most counts one or two
	previous := -1
	for _, b := range all {
		packed = binary.AppendUvarint(packed, uint64(b.index-previous))
		packed = binary.AppendUvarint(packed, uint64(b.count))
		previous = b.index
	}
	return packed
}

// unpack reads what pack wrote. It refuses buckets that don't exist or don't rise, and counts that don't fit into an int64.
func unpack(packed []byte) (buckets, error) {
	all := slices.Grow(buckets(nil), len(packed)/2) // each takes two bytes at least, and seldom more than three
	var total uint64
	for index := -1; len(packed) > 0; {
		step, stepSize := binary.Uvarint(packed)
		count, countSize := binary.Uvarint(packed[max(stepSize, 0):])
		if stepSize <= 0 || countSize <= 0 {
			return nil, errors.New("a number is cut short, or of more than 64 bits")
		}
		packed = packed[stepSize+countSize:]
		if step == 0 || step > uint64(overflow-index) {
			return nil, fmt.Errorf("step %d after bucket %d, allowed 1 to %d", step, index, overflow-index)
		}
		if count == 0 || count > math.MaxInt64-total {
			return nil, fmt.Errorf("count %d after %d, allowed 1 to %d in all", count, total, int64(math.MaxInt64))
		}
		index += int(step)
		total += count
		all = append(all, bucket{index: index, count: int64(count)})
	}
	return all, nil
}
