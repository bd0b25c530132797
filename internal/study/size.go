package study

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Size is a number of bytes, written with its unit: 100, 1KiB (1,024), 1kB (1,000), 1MB (1,000,000).
// In JSON it is the plain number.
type Size int64

// Sizes is one message size or a weighted distribution of them.
type Sizes []WeightedSize

// WeightedSize is one size and its relative weight.
type WeightedSize struct {
	Size   Size    `json:"size"`
	Weight float64 `json:"weight"`
}

const maxBytes = 1 << 50 // beyond 2^53, float64 can't represent bytes exactly

// ParseSize parses a whole number of bytes with or without a unit; k, M, G are powers of 1,000 and Ki, Mi, Gi of 1,024.
func ParseSize(text string) (Size, error) {
	exact, err := parseBytes(text)
	if err != nil {
		return 0, err
	}
	if !exact.IsInt() {
		return 0, fmt.Errorf("%q is not a whole number of bytes", text)
	}
	return Size(exact.Num().Int64()), nil
}

// ParseBytes is ParseSize for an amount that need not be whole, such as a bound: 0.3KiB is 307.2.
func ParseBytes(text string) (float64, error) {
	exact, err := parseBytes(text)
	if err != nil {
		return 0, err
	}
	amount, _ := exact.Float64()
	return amount, nil
}

// parseBytes parses an amount of bytes exactly, up to maxBytes. humanize knows the units, but computes in float64, which makes
// 1,000.9999 of 1.001kB.
func parseBytes(text string) (*big.Rat, error) {
	if f, err := strconv.ParseFloat(text, 64); err == nil && (f > maxBytes || f < -maxBytes) {
		return nil, fmt.Errorf("%q is beyond 1 PiB", text)
	}
	unsigned := strings.TrimPrefix(text, "-")
	n, err := humanize.ParseBytes(unsigned)
	if err != nil || strings.Contains(text, ",") || text == "" || !strings.ContainsAny(text[:1], "-0123456789.") {
		return nil, fmt.Errorf("%q is not a size; allowed: bytes such as 100, 1KiB, 1MB", text)
	}
	unit := strings.TrimLeft(unsigned, "0123456789.")
	oneUnit, err := humanize.ParseBytes("1" + unit)
	exact, ok := new(big.Rat).SetString(strings.TrimSuffix(unsigned, unit))
	if err != nil || !ok {
		return nil, fmt.Errorf("%q is not a size; allowed: bytes such as 100, 1KiB, 1MB", text)
	}
	exact.Mul(exact, new(big.Rat).SetUint64(oneUnit))
	if n > maxBytes || exact.Cmp(big.NewRat(maxBytes, 1)) > 0 {
		return nil, fmt.Errorf("%q is beyond 1 PiB", text)
	}
	if unsigned != text {
		exact.Neg(exact)
	}
	return exact, nil
}

// String writes the size exactly, with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range []struct {
		bytes int64
		name  string
	}{{1 << 50, "PiB"}, {1 << 40, "TiB"}, {1e12, "TB"}, {1 << 30, "GiB"}, {1e9, "GB"}, {1 << 20, "MiB"}, {1e6, "MB"}, {1 << 10, "KiB"}, {1e3, "kB"}} {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// UnmarshalJSON parses a number of bytes or a string with a unit.
func (s *Size) UnmarshalJSON(data []byte) error {
	if n, err := strconv.ParseInt(string(data), 10, 64); err == nil && -maxBytes <= n && n <= maxBytes { // as MarshalJSON writes it
		*s = Size(n)
		return nil
	}
	text, err := unquoted(data)
	if err != nil {
		return err
	}
	n, err := ParseSize(text)
	if err == nil {
		*s = n
	}
	return err
}

// unquoted is the text of a JSON value that may be a string or a number.
func unquoted(data []byte) (text string, err error) {
	if !bytes.HasPrefix(data, []byte{'"'}) {
		return string(data), nil
	}
	if !bytes.ContainsRune(data, '\\') && len(data) > 1 {
		return string(data[1 : len(data)-1]), nil
	}
	err = json.Unmarshal(data, &text)
	return text, err
}

// MarshalJSON writes a single size as a number, a distribution as a list.
func (s Sizes) MarshalJSON() ([]byte, error) {
	if len(s) == 1 {
		return json.Marshal(s[0].Size)
	}
	return json.Marshal([]WeightedSize(s))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Sizes) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]WeightedSize)(s))
	}
	if string(data) == "null" {
		*s = nil
		return nil
	}
	var one Size
	if err := one.UnmarshalJSON(data); err != nil {
		return err
	}
	*s = Sizes{{one, 1}}
	return nil
}

// String writes a single size as such, a distribution as size:weight pairs.
func (s Sizes) String() string {
	if len(s) == 1 {
		return s[0].Size.String()
	}
	return strings.Join(texts(s, func(w WeightedSize) string { return w.Size.String() + ":" + strconv.FormatFloat(w.Weight, 'g', -1, 64) }), ",")
}

// Summary is String for people: many sizes are summarized by their extremes and mean.
func (s Sizes) Summary() string {
	if len(s) <= 4 {
		return s.String()
	}
	return fmt.Sprintf("%s–%s, mean %.0f", s.Smallest(), s.Largest(), s.Mean())
}

// Smallest is the smallest size; 0 if there is none.
func (s Sizes) Smallest() Size {
	if len(s) == 0 {
		return 0
	}
	return slices.MinFunc(s, bySize).Size
}

// Largest is the largest size; 0 if there is none.
func (s Sizes) Largest() Size {
	var largest Size
	for _, w := range s {
		largest = max(largest, w.Size)
	}
	return largest
}

func bySize(a, b WeightedSize) int { return cmp.Compare(a.Size, b.Size) }

// Mean is the mean size in bytes over the distribution.
func (s Sizes) Mean() float64 {
	var bytes, weights float64
	for _, w := range s {
		bytes += float64(w.Size) * w.Weight
		weights += w.Weight
	}
	if weights == 0 {
		return 0
	}
	return bytes / weights
}

// Duration is a time.Duration written with its unit: 30s, 1.5m. In JSON it is a string in this form.
type Duration time.Duration

// ParseDuration parses a time with its unit; only 0 needs none.
func ParseDuration(text string) (Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return Duration(d), nil
	}
	if _, plain := strconv.ParseFloat(text, 64); plain == nil {
		return 0, fmt.Errorf("%q has no unit; allowed: a time such as %ss, 500ms, 1.5m", text, text)
	}
	if hugeTime.MatchString(text) {
		return 0, fmt.Errorf("%q is out of range; allowed: up to %s", text, maxDuration)
	}
	return 0, fmt.Errorf("%q is not a time; allowed: a time with its unit such as 30s, 500ms, 1.5m", text)
}

// hugeTime matches a well-formed time that may exceed 64 bits of nanoseconds.
var hugeTime = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`)

// String is exact and short: 1m, 1m30s, 250ms.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Seconds is the duration as a number of seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

// MarshalJSON writes String.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON parses a string with its unit.
func (d *Duration) UnmarshalJSON(data []byte) error {
	text, err := unquoted(data)
	if err != nil || !bytes.HasPrefix(data, []byte{'"'}) {
		return fmt.Errorf("%s is not a time; allowed: a text such as \"30s\"", data)
	}
	v, err := ParseDuration(text)
	if err != nil {
		return err
	}
	*d = v
	return nil
}
