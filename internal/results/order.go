package results

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/study"
)

// Names lists the names of points, each once, in the order in which charts assign colours and shapes.
func Names(points []Point) []string {
	names := lists.Map(slices.SortedFunc(slices.Values(points), ComparePoints), func(p Point) string { return p.Name })
	return slices.Compact(names) // equal names are adjacent: a name consists of the kind and the variant, by which points are ordered
}

// ComparePoints orders points by the parts of their names.
func ComparePoints(a, b Point) int {
	return cmp.Or(CompareNames(a.Kind(), b.Kind()), compareVariants(a.Variant, b.Variant), CompareNames(a.Name, b.Name))
}

// compareVariants orders variants by their first setting, then by the next.
func compareVariants(a, b Variant) int {
	return slices.CompareFunc(a, b, func(x, y SettingValue) int {
		return cmp.Or(CompareNames(x.Name, y.Name), CompareNames(x.Value, y.Value))
	})
}

// CompareNames orders names and values as people do, word by word: "batch=16KiB" before "batch=1MiB" before "batch=unset",
// and "nats2" before "nats10". It is 0 only for equal texts.
func CompareNames(a, b string) int {
	return cmp.Or(
		slices.CompareFunc(wordsOf(a), wordsOf(b), compareWords),
		compareNumbersInside(a, b), // of equal words: "1024" and "1KiB"
		cmp.Compare(a, b),
	)
}

// CompareValues orders two values of one setting as CompareNames does, but equal quantities are equal: 1024 and 1KiB.
func CompareValues(a, b string) int {
	if SameValue(a, b) {
		return 0
	}
	return CompareNames(a, b)
}

// SameValue reports whether two values of one setting, which are all times or all sizes, are equal, or the same quantity as
// 1024 and 1KiB are.
func SameValue(a, b string) bool {
	magnitudeA, okA := Magnitude(a)
	magnitudeB, okB := Magnitude(b)
	return a == b || (okA && okB && magnitudeA == magnitudeB)
}

// wordsOf splits a name at spaces and equals signs.
func wordsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '=' })
}

// compareWords orders words with a magnitude by it, before words without one.
func compareWords(a, b string) int {
	magnitudeA, okA := Magnitude(a)
	magnitudeB, okB := Magnitude(b)
	switch {
	case okA && okB:
		return cmp.Compare(magnitudeA, magnitudeB)
	case okA:
		return -1
	case okB:
		return 1
	}
	return compareNumbersInside(a, b)
}

// compareNumbersInside orders texts by their bytes, except that whole numbers inside are compared as numbers: "4.9" before "4.10".
func compareNumbersInside(a, b string) int {
	for a != "" && b != "" {
		digitsA, restA := cutDigits(a)
		digitsB, restB := cutDigits(b)
		switch {
		case digitsA != "" && digitsB != "":
			if order := compareDigits(digitsA, digitsB); order != 0 {
				return order
			}
			a, b = restA, restB
		case a[0] != b[0]:
			return cmp.Compare(a[0], b[0])
		default:
			a, b = a[1:], b[1:]
		}
	}
	return cmp.Compare(len(a), len(b))
}

const digits = "0123456789"

// cutDigits splits off the leading digits of a text.
func cutDigits(text string) (number, rest string) {
	rest = strings.TrimLeft(text, digits)
	return strings.TrimSuffix(text, rest), rest
}

// compareDigits compares whole numbers of any length.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// Magnitude is the number for a setting's value: itself, a duration in nanoseconds, or a size in bytes. ok reports whether there is one.
func Magnitude(text string) (v float64, ok bool) {
	if !strings.ContainsAny(text, digits) {
		return 0, false // also of "inf" and "nan", which ParseFloat takes
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return number, true
	}
	if d, err := time.ParseDuration(text); err == nil { // before sizes, which take 5m as 5 MB
		return float64(d), true
	}
	if size, err := study.ParseBytes(text); err == nil {
		return size, true
	}
	return 0, false
}
