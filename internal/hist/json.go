package hist

import (
	"encoding/json"
	"errors"
	"fmt"
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
	return json.Marshal(snapshotJSON{N: s.n, Min: s.min, Max: s.max, Buckets: s.buckets, Censored: s.censored})
}

// UnmarshalJSON reads the form that MarshalJSON writes. It refuses anything that no histogram can have written.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	var in snapshotJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	if err := in.Buckets.check(); err != nil {
		return fmt.Errorf("histogram buckets: %w", err)
	}
	if err := in.Censored.check(); err != nil {
		return fmt.Errorf("histogram buckets of censored values: %w", err)
	}
	out := Snapshot{buckets: in.Buckets, censored: in.Censored}
	out.recount(in.Min, in.Max)
	if known := in.Buckets.less(in.Censored).count(); known != out.n-in.Censored.count() {
		return errors.New("histogram: it has censored values that are not among its values")
	}
	if in.N != out.n || in.Min != out.min || in.Max != out.max {
		return fmt.Errorf("histogram: n %d, min %d, max %d contradict the buckets, which allow n %d, min %d, max %d",
			in.N, in.Min, in.Max, out.n, out.min, out.max)
	}
	*s = out
	return nil
}
