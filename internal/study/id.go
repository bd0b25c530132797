package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// ID identifies the experiment of a complete Spec: the first 16 hex digits of the SHA-256 of its canonical JSON, without name,
// label, topicPrefix and objectives. It doesn't depend on the order of keys, on spelling (1KiB or 1024, 60s or 1m), on the path
// of payload samples (only on their contents), or on the sources of passwords, tokens and certificates.
func (s Spec) ID() string {
	s.Name, s.Label, s.TopicPrefix, s.Objectives = "", "", "", nil
	if s.PayloadDigest != "" {
		s.PayloadFile, s.PayloadColumn = "", ""
	}
	s.PasswordEnv, s.PasswordFile, s.CAFile, s.CertFile, s.KeyFile, s.OAuth = "", "", "", "", "", OAuth{}
	s.Server, s.Client, s.Topic = spelled(s.Server), spelled(s.Client), spelled(s.Topic)
	s.Headers = spelled(s.Headers)
	data, err := json.Marshal(s)
	if err == nil {
		// Once more through a map: keys sorted, so that moving a field within Spec changes no identity.
		var keys map[string]any
		exact := json.NewDecoder(bytes.NewReader(data))
		exact.UseNumber() // a seed beyond 2^53 must keep its digits
		if err = exact.Decode(&keys); err == nil {
			data, err = json.Marshal(keys)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("study: a spec that can't be written: %v", err)) // NaN: validation comes first
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// spelled writes native values as text: 4 from YAML, and "4" and 4.0 from a stored record, are the same to a broker.
func spelled(native map[string]any) map[string]any {
	if len(native) == 0 {
		return nil
	}
	out := make(map[string]any, len(native))
	for name, v := range native {
		if f, ok := v.(float64); ok {
			out[name] = number(f)
			continue
		}
		out[name] = fmt.Sprint(v)
	}
	return out
}

// number formats a float shortly and without an exponent.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// inWords formats a number for a sentence, without hundreds of digits.
func inWords(f float64) string {
	if size := math.Abs(f); size >= 1e21 || 0 < size && size < 1e-6 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return number(f)
}
