// Package remark has sentences whose figures are also known as numbers, so that sentences that differ only in their
// figures can be merged into one. It knows nothing of any measurement.
//
//	late := remark.Of("the generator was %s late", 3*time.Millisecond)
//	later := remark.Of("the generator was %s late", 9*time.Millisecond)
//	remark.Merge([]remark.Remark{late, later}) // "the generator was 3–9ms late (2 alike)"
package remark

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
)

// Remark is a sentence with its figures: "the generator was 3ms late" has one, At 18 with the Text 3ms and the Value 3e6.
type Remark struct {
	Text    string
	Figures []Figure // in the order of the text
}

// Figure is a number in the text of a Remark.
type Figure struct {
	At    int     `json:"at"`    // index of its first byte in the text
	Text  string  `json:"text"`  // as written: "2.7ms"
	Value float64 `json:"value"` // as measured, to compare it with the same figure of another remark
}

// Stored makes a remark of a text and figures that were read from a file. If a figure doesn't stand in the text where
// it says, in order, the remark has no figures. Nor has one whose text holds a placeholder, which is removed.
func Stored(text string, figures []Figure) Remark {
	if strings.Contains(text, placeholder) {
		return Remark{Text: strings.ReplaceAll(text, placeholder, "")}
	}
	end := 0
	for _, f := range figures {
		if f.At < end || f.At > len(text) || !strings.HasPrefix(text[f.At:], f.Text) {
			return Remark{Text: text}
		}
		end = f.At + len(f.Text)
	}
	return Remark{Text: text, Figures: figures}
}

// Of formats a sentence as fmt.Sprintf does. Its figures are the arguments that are numbers. An argument that is a
// remark, or an error with a method Remark, adds its own figures. The format holds no NUL.
func Of(format string, args ...any) Remark {
	if false {
		_ = fmt.Sprintf(format, args...) // by which go vet knows that this function formats, and checks its callers
	}
	var figures []Figure // in the order in which package fmt formats the arguments
	recorders := make([]any, len(args))
	for i, arg := range args {
		recorders[i] = recorder{value: arg, figures: &figures}
	}
	return fill(fmt.Sprintf(format, recorders...), figures)
}

// placeholder stands for a figure in a form, which is a text without its figures: "the generator was \x00 late".
const placeholder = "\x00"

// fill puts figures into the placeholders of a form, in their order.
func fill(form string, figures []Figure) Remark {
	var r Remark
	for i, part := range strings.Split(form, placeholder) {
		if i > 0 {
			f := figures[i-1]
			f.At = len(r.Text)
			r.Figures = append(r.Figures, f)
			r.Text += f.Text
		}
		r.Text += part
	}
	return r
}

// recorder is an argument of a format. When package fmt formats it, it writes placeholders and records the figures that
// belong there.
type recorder struct {
	value   any
	figures *[]Figure // of all arguments so far
}

// Format implements fmt.Formatter.
func (a recorder) Format(s fmt.State, verb rune) {
	if r, ok := a.value.(interface{ Remark() Remark }); ok {
		a.value = r.Remark()
	}
	if r, ok := a.value.(Remark); ok {
		*a.figures = append(*a.figures, r.Figures...)
		io.WriteString(s, r.Form())
		return
	}
	text := fmt.Sprintf(fmt.FormatString(s, verb), a.value)
	if value, ok := number(a.value); ok {
		*a.figures = append(*a.figures, Figure{Text: text, Value: value})
		io.WriteString(s, placeholder)
		return
	}
	io.WriteString(s, strings.ReplaceAll(text, placeholder, ""))
}

// number is the value of any type of number, such as a time.Duration.
func number(v any) (value float64, ok bool) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid(): // nil
		return 0, false
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	default:
		return 0, false
	}
}

// String is the text.
func (r Remark) String() string { return r.Text }

// Form is the text with a placeholder for each figure. Remarks of one form differ only in their figures.
func (r Remark) Form() string {
	var form strings.Builder
	end := 0
	for _, f := range r.Figures {
		form.WriteString(r.Text[end:f.At] + placeholder)
		end = f.At + len(f.Text)
	}
	return form.String() + r.Text[end:]
}

// Join puts several remarks into one, with a separator between them, as strings.Join does.
func Join(remarks []Remark, separator string) Remark {
	var all Remark
	for i, r := range remarks {
		if i > 0 {
			all.Text += separator
		}
		for _, f := range r.Figures {
			f.At += len(all.Text)
			all.Figures = append(all.Figures, f)
		}
		all.Text += r.Text
	}
	return all
}

// Merge makes one sentence of remarks of the same form, of which there is at least one. Its figures are ranges over all
// remarks, and it counts them: "2.7–4ms late (2 alike)".
func Merge(remarks []Remark) string {
	first := remarks[0]
	if len(remarks) == 1 {
		return first.Text
	}
	var ranges []Figure
	for i, figure := range first.Figures {
		lowest, highest := figure, figure
		for _, r := range remarks {
			if r.Figures[i].Value < lowest.Value {
				lowest = r.Figures[i]
			}
			if r.Figures[i].Value > highest.Value {
				highest = r.Figures[i]
			}
		}
		ranges = append(ranges, Figure{Text: rangeText(lowest.Text, highest.Text)})
	}
	return fmt.Sprintf("%s (%d alike)", fill(first.Form(), ranges).Text, len(remarks))
}

// rangeText writes a range, with the unit only once if both figures are a number with the same unit: "2.7–4ms", but
// "900µs–4ms" and "58s–1m3s".
func rangeText(low, high string) string {
	if low == high {
		return low
	}
	lowNumber, lowUnit := splitUnit(low)
	highNumber, highUnit := splitUnit(high)
	isCompound := strings.ContainsFunc(lowNumber+highNumber, unicode.IsLetter) // as the "1m3" of 1m3s
	if lowUnit != highUnit || isCompound {
		return low + "–" + high
	}
	return lowNumber + "–" + high
}

// splitUnit splits a figure after its last digit: "2.7ms" into "2.7" and "ms".
func splitUnit(figure string) (number, unit string) {
	end := strings.LastIndexAny(figure, "0123456789") + 1
	return figure[:end], figure[end:]
}
