// Package remark is sentences whose figures are also known as numbers, so that several sentences that differ only in their
// figures can be joined into one. It knows nothing of any measurement.
//
//	late := remark.Of("the generator was %s late", 3*time.Millisecond)
//	later := remark.Of("the generator was %s late", 9*time.Millisecond)
//	remark.Join([]remark.Remark{late, later}) // "the generator was 3–9ms late (2 alike)"
package remark

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Remark is a sentence with its figures. One without figures is joined with its equals only.
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

// Stored makes a remark of a text and figures that were read from a file. It has no figures unless all of them stand in the text, in
// this order.
func Stored(text string, figures []Figure) Remark {
	end := 0
	for _, f := range figures {
		if f.At < end || f.At > len(text) || !strings.HasPrefix(text[f.At:], f.Text) {
			return Remark{Text: text}
		}
		end = f.At + len(f.Text)
	}
	return Remark{Text: text, Figures: figures}
}

// Of formats a sentence as fmt.Sprintf does. Its figures are the arguments that are numbers, and those of arguments that
// are remarks or have one.
func Of(format string, args ...any) Remark {
	var figures []Figure
	recorders := make([]any, len(args))
	for i, arg := range args {
		recorders[i] = recorder{value: arg, figures: &figures}
	}
	return fill(fmt.Sprintf(format, recorders...), figures)
}

// placeholder stands for a figure in a form.
const placeholder = "\x00"

// fill puts figures into the placeholders of a form, in their order.
func fill(form string, figures []Figure) Remark {
	var text strings.Builder
	var placed []Figure
	for i, part := range strings.Split(form, placeholder) {
		if i > 0 && i <= len(figures) {
			f := figures[i-1]
			f.At = text.Len()
			placed = append(placed, f)
			text.WriteString(f.Text)
		}
		text.WriteString(part)
	}
	return Remark{Text: text.String(), Figures: placed}
}

// recorder is an argument of a format that records its figures when package fmt formats it.
type recorder struct {
	value   any
	figures *[]Figure // of all arguments
}

// Format writes a placeholder for every figure, and records the figure.
func (a recorder) Format(s fmt.State, verb rune) {
	if r, ok := remarkOf(a.value); ok {
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

// remarkOf is the remark that a value is or has.
func remarkOf(value any) (r Remark, ok bool) {
	if v, has := value.(interface{ Remark() Remark }); has {
		return v.Remark(), true
	}
	r, ok = value.(Remark)
	return r, ok
}

func number(v any) (value float64, ok bool) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return 0, false
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

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

// List puts several remarks into one, with a separator between them.
func List(remarks []Remark, separator string) Remark {
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

// Join makes one sentence of remarks of one form, with the span of each figure and the number of remarks: "2.7–4ms late (2 alike)".
// There has to be at least one remark.
func Join(remarks []Remark) string {
	first := remarks[0]
	if len(remarks) == 1 {
		return first.Text
	}
	spans := slices.Clone(first.Figures)
	for i := range spans {
		low, high := first.Figures[i], first.Figures[i]
		for _, r := range remarks {
			low = slices.MinFunc([]Figure{low, r.Figures[i]}, byValue)
			high = slices.MaxFunc([]Figure{high, r.Figures[i]}, byValue)
		}
		spans[i].Text = span(low.Text, high.Text)
	}
	return fmt.Sprintf("%s (%d alike)", fill(first.Form(), spans).Text, len(remarks))
}

func byValue(a, b Figure) int { return cmp.Compare(a.Value, b.Value) }

// span writes a range, with a unit that both figures have only once: "2.7–4ms".
func span(low, high string) string {
	if low == high {
		return low
	}
	unit := high[strings.LastIndexAny(high, "0123456789")+1:]
	number := strings.TrimSuffix(low, unit)
	if strings.LastIndexAny(number, "0123456789") != len(number)-1 {
		number = low // it has another unit, as in "900µs–4ms"
	}
	return number + "–" + high
}
