package hist

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// snapshotJSON is the form of a Snapshot in JSON: {"n":3,"min":5,"max":1000,"b":"BgLvBQE="}. JSON holds bytes in base64.
type snapshotJSON struct {
	N       int64   `json:"n"`   // how many values there are
	Min     int64   `json:"min"` // the smallest, ns
	Max     int64   `json:"max"` // the largest, ns
	Buckets buckets `json:"b"`
	// Censored are the buckets of those values that are lower bounds.
	Censored buckets `json:"c,omitempty"`
}

// MarshalJSON writes the form of snapshotJSON. An empty snapshot is {"n":0}.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	if s.n == 0 {
		return []byte(`{"n":0}`), nil
	}
	text := make([]byte, 0, len(`{"n":,"min":,"max":,"b":"","c":""}`)+3*20+base64.StdEncoding.EncodedLen(len(s.buckets)+len(s.censored))+4)
	text = strconv.AppendInt(append(text, `{"n":`...), s.n, 10)
	text = strconv.AppendInt(append(text, `,"min":`...), s.min, 10)
	text = strconv.AppendInt(append(text, `,"max":`...), s.max, 10)
	text = base64.StdEncoding.AppendEncode(append(text, `,"b":"`...), s.buckets)
	if len(s.censored) > 0 {
		text = base64.StdEncoding.AppendEncode(append(text, `","c":"`...), s.censored)
	}
	return append(text, `"}`...), nil
}

// UnmarshalJSON reads the form that MarshalJSON writes. It refuses anything that no histogram can have written.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	in, ok := written(data)
	if !ok {
		if err := json.Unmarshal(data, &in); err != nil {
			return fmt.Errorf("histogram: %w", err)
		}
	}
	all, err := in.Buckets.check()
	if err != nil {
		return fmt.Errorf("histogram buckets: %w", err)
	}
	censored, err := in.Censored.check()
	if err != nil {
		return fmt.Errorf("histogram buckets of censored values: %w", err)
	}
	out := Snapshot{buckets: in.Buckets, censored: in.Censored}
	out.span(all, in.Min, in.Max)
	if censored.n > 0 && in.Buckets.less(in.Censored).count() != all.n-censored.n {
		return errors.New("histogram: it has censored values that are not among its values")
	}
	if in.N != out.n || in.Min != out.min || in.Max != out.max {
		return fmt.Errorf("histogram: n %d, min %d, max %d contradict the buckets, which allow n %d, min %d, max %d",
			in.N, in.Min, in.Max, out.n, out.min, out.max)
	}
	*s = out
	return nil
}

// written reads the very text that MarshalJSON writes: of a record it is the largest part, which package json takes twice as long for as
// for the rest. ok is false for any other text.
func written(text []byte) (in snapshotJSON, ok bool) {
	f := forward{text}
	ok = f.number(`{"n":`, &in.N)
	if ok && string(f.rest) == "}" {
		return in, true
	}
	ok = ok && f.number(`,"min":`, &in.Min) && f.number(`,"max":`, &in.Max) && f.bytes(`,"b":"`, &in.Buckets)
	if ok && string(f.rest) != "}" {
		ok = f.bytes(`,"c":"`, &in.Censored) && string(f.rest) == "}"
	}
	if !ok {
		return snapshotJSON{}, false
	}
	return in, true
}

// forward reads a text piece by piece.
type forward struct{ rest []byte }

// number reads a whole number of at most 18 digits that follows key.
func (f *forward) number(key string, n *int64) bool {
	rest, ok := bytes.CutPrefix(f.rest, []byte(key))
	digits := 0
	for ; digits < len(rest) && rest[digits]-'0' < 10; digits++ {
		*n = *n*10 + int64(rest[digits]-'0')
	}
	f.rest = rest[digits:]
	return ok && digits > 0 && digits <= 18 && (digits == 1 || rest[0] != '0')
}

// bytes reads bytes in base64, with the quote behind them, that follow key.
func (f *forward) bytes(key string, b *buckets) bool {
	rest, ok := bytes.CutPrefix(f.rest, []byte(key))
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 || bytes.ContainsAny(rest[:end], "\r\n") { // which the decoder below skips, and JSON has not
		return false
	}
	packed, err := base64.StdEncoding.AppendDecode(nil, rest[:end])
	*b, f.rest = packed, rest[end+1:]
	return err == nil
}
