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

// MarshalJSON writes {"n":…,"min":…,"max":…,"b":"…"}; b is base64 of unsigned varints, for every bucket that
// holds something its distance from the previous one (the first from bucket −1) and its count. Empty: {"n":0}.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	if s.n == 0 {
		return []byte(`{"n":0}`), nil
	}
	packed := make([]byte, 0, 3*len(s.cells))
	previous := int32(-1)
	for _, c := range s.cells {
		packed = binary.AppendUvarint(packed, uint64(c.i-previous))
		packed = binary.AppendUvarint(packed, uint64(c.n))
		previous = c.i
	}
	out := make([]byte, 0, 80+base64.StdEncoding.EncodedLen(len(packed)))
	out = strconv.AppendInt(append(out, `{"n":`...), s.n, 10)
	out = strconv.AppendInt(append(out, `,"min":`...), s.min, 10)
	out = strconv.AppendInt(append(out, `,"max":`...), s.max, 10)
	out = base64.StdEncoding.AppendEncode(append(out, `,"b":"`...), packed)
	return append(out, `"}`...), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. Anything that no histogram could have written is an error.
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
	if out.cells, err = unpack(packed); err != nil {
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

func unpack(packed []byte) ([]cell, error) {
	ends := 0 // of numbers, two for each cell
	for _, b := range packed {
		if b < 0x80 {
			ends++
		}
	}
	cells := slices.Grow([]cell(nil), ends/2)
	var total uint64
	for i := -1; len(packed) > 0; {
		step, a := binary.Uvarint(packed)
		if a <= 0 {
			return nil, errors.New("cut short")
		}
		n, b := binary.Uvarint(packed[a:])
		if b <= 0 {
			return nil, errors.New("cut short")
		}
		if step == 0 || step > uint64(top-i) {
			return nil, fmt.Errorf("step %d after bucket %d, allowed 1 to %d", step, i, top-i)
		}
		if n == 0 || n > math.MaxInt64 || total+n > math.MaxInt64 {
			return nil, fmt.Errorf("count %d after %d, allowed 1 to %d in all", n, total, int64(math.MaxInt64))
		}
		i, total, packed = i+int(step), total+n, packed[a+b:]
		cells = append(cells, cell{int32(i), int64(n)})
	}
	return cells, nil
}
