package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

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
