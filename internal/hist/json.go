package hist

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// MarshalJSON writes {"n":…,"min":…,"max":…,"b":"…"}: the number of values, the smallest and the largest in nanoseconds,
// and the buckets. An empty snapshot is {"n":0}.
//
// The buckets are unsigned varints in base64, two for each bucket that is not empty: its distance from the one before
// (the first counts from bucket −1), and its count. So 5 values in bucket 2 and 7 in bucket 3 are the bytes 3 5 1 7.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	if s.n == 0 {
		return []byte(`{"n":0}`), nil
	}
	packed := s.pack()
	const fixed = 80 // keys, punctuation, and three numbers of up to 19 digits
	out := make([]byte, 0, fixed+base64.StdEncoding.EncodedLen(len(packed)))
	out = strconv.AppendInt(append(out, `{"n":`...), s.n, 10)
	out = strconv.AppendInt(append(out, `,"min":`...), s.min, 10)
	out = strconv.AppendInt(append(out, `,"max":`...), s.max, 10)
	out = base64.StdEncoding.AppendEncode(append(out, `,"b":"`...), packed)
	return append(out, `"}`...), nil
}

// UnmarshalJSON reads the form that MarshalJSON writes. It refuses anything that no histogram can have written.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	var in struct {
		N   int64
		Min int64
		Max int64
		B   string
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	packed, err := base64.StdEncoding.DecodeString(in.B)
	if err != nil {
		return fmt.Errorf("histogram buckets: %w", err)
	}
	var out Snapshot
	if out.buckets, err = unpack(packed); err != nil {
		return fmt.Errorf("histogram buckets: %w", err)
	}
	out.recount(in.Min, in.Max)
	if in.N != out.n || in.Min != out.min || in.Max != out.max {
		return fmt.Errorf("histogram: n %d, min %d, max %d contradict the buckets, which allow n %d, min %d, max %d",
			in.N, in.Min, in.Max, out.n, out.min, out.max)
	}
	*s = out
	return nil
}

func (s Snapshot) pack() []byte {
	packed := make([]byte, 0, 3*len(s.buckets)) // most distances take one byte, most counts one or two
	previous := -1
	for _, b := range s.buckets {
		packed = binary.AppendUvarint(packed, uint64(b.index-previous))
		packed = binary.AppendUvarint(packed, uint64(b.count))
		previous = b.index
	}
	return packed
}

// unpack reads what pack wrote. It refuses buckets that don't exist or don't rise, and counts that don't fit into an int64.
func unpack(packed []byte) ([]bucket, error) {
	buckets := slices.Grow([]bucket(nil), varints(packed)/2)
	var total uint64
	for index := -1; len(packed) > 0; {
		step, stepSize := binary.Uvarint(packed)
		count, countSize := binary.Uvarint(packed[max(stepSize, 0):])
		if stepSize <= 0 || countSize <= 0 {
			return nil, errors.New("they are cut short in the middle of a number")
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
		buckets = append(buckets, bucket{index: index, count: int64(count)})
	}
	return buckets, nil
}

// varints counts the varints in packed: each ends with its only byte below 0x80.
func varints(packed []byte) int {
	n := 0
	for _, b := range packed {
		if b < 0x80 {
			n++
		}
	}
	return n
}
