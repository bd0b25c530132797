package maker

import (
	"regexp"
	"testing"
)

// Whatever a tool prints that isn't known is an error: a figure of 0 would look like one that was measured.
func TestAnOutputWithoutItsFiguresIsAnErrorAndNotZero(t *testing.T) {
	rate := regexp.MustCompile(`^rate (\S+), p99 (\S+)$`)
	tool := Tool{Read: func(_ Point, o *Output) Figures {
		m := o.Last(rate)
		return Figures{SendRate: o.Number(m[1]), Publish: o.Numbers(m[2:], 1e6, "p99")}
	}}
	for line, ok := range map[string]bool{
		"rate 1,000.5, p99 2":  true,
		"rate 1000, p99 0":     false,
		"rate 0, p99 2":        false,
		"rate NaN, p99 2":      false,
		"rate 1000, p99 -":     false,
		"rate 1000, p99 -1":    false,
		"rate 1e999, p99 2":    false,
		"rates 1000, p99 2":    false,
		"":                     false,
		"rate 1000/s, p99 2ms": false,
	} {
		if f, err := tool.Figures(Point{}, []string{line}); (err == nil) != ok {
			t.Errorf("%q: %+v, %v", line, f, err)
		}
	}
}
