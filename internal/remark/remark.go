// Package remark has sentences whose figures are also known as numbers, so that sentences that differ only in their
// figures can be merged into one. It knows nothing of any measurement.
//
//	late := remark.Of("the generator was %s late", 3*time.Millisecond)
//	later := remark.Of("the generator was %s late", 9*time.Millisecond)
//	remark.Merge([]remark.Remark{late, later}) // "the generator was 3–9ms late (2 alike)"
package remark

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
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
// it says, in order, the remark has no figures. Nor has one whose text holds a NUL, which is removed (see placeholder).
func Stored(text string, figures []Figure) Remark {
	if strings.Contains(text, placeholder) {
		return Remark{Text: printable(text)}
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
// remark, or an error with a method Remark, adds its own figures. Each verb takes the next argument: a remark with other
// verbs, such as %*d and %[1]d, has the same text and no figures. Control characters and what is beyond 16 KiB are left out, since errors
// quote servers.
func Of(format string, args ...any) Remark {
	whole := printable(fmt.Sprintf(format, args...))
	var r Remark
	end := 0
	for _, at := range verbs.FindAllStringIndex(format, -1) {
		r.Text += format[end:at[0]]
		end = at[1]
		switch verb := format[at[0]:at[1]]; {
		case verb == "%%":
			r.Text += "%"
		case len(args) > 0:
			r = r.followedBy(formatted(verb, args[0]))
			args = args[1:]
		}
	}
	r.Text += format[end:]
	if r.Text != whole {
		r = Remark{Text: whole}
	}
	return r.cut()
}

// mostText bounds the text of a remark, in bytes: a server may say much.
const mostText = 16 << 10

// cut is r cut to mostText bytes, with the figures before the cut.
func (r Remark) cut() Remark {
	if len(r.Text) <= mostText {
		return r
	}
	kept := strings.ToValidUTF8(r.Text[:mostText], "")
	beyond := func(f Figure) bool { return f.At+len(f.Text) > len(kept) }
	return Remark{fmt.Sprintf("%s… (%d bytes more)", kept, len(r.Text)-len(kept)), slices.DeleteFunc(slices.Clone(r.Figures), beyond)}
}

// verbs are what a format has for its arguments, such as %s and %.1f, and the %% that stands for a percent sign.
var verbs = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z%]`)

// formatted is one argument of a format as its verb writes it.
func formatted(verb string, arg any) Remark {
	switch arg := arg.(type) {
	case Remark:
		return arg
	case interface{ Remark() Remark }:
		return arg.Remark()
	}
	r := Remark{Text: printable(fmt.Sprintf(verb, arg))}
	if value, ok := number(arg); ok {
		r.Figures = []Figure{{Text: r.Text, Value: value}}
	}
	return r
}

// followedBy is r with another remark behind it.
func (r Remark) followedBy(next Remark) Remark {
	figures := slices.Clone(r.Figures)
	for _, f := range next.Figures {
		f.At += len(r.Text)
		figures = append(figures, f)
	}
	return Remark{Text: r.Text + next.Text, Figures: figures}
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
	}
	return 0, false
}

// String is the text.
func (r Remark) String() string { return r.Text }

// Form is the text with a placeholder for each figure: "the generator was \x00 late". Remarks of one form differ only in
// their figures.
func (r Remark) Form() string {
	return r.withFigures(func(int) string { return placeholder })
}

// placeholder stands for a figure in a form. No remark has it in its text.
const placeholder = "\x00"

// printable is text without control characters, the placeholder among them; line breaks and tabs stay.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// withFigures is the text with other figures: textOf has that of the i-th.
func (r Remark) withFigures(textOf func(i int) string) string {
	var text strings.Builder
	end := 0
	for i, f := range r.Figures {
		text.WriteString(r.Text[end:f.At] + textOf(i))
		end = f.At + len(f.Text)
	}
	return text.String() + r.Text[end:]
}

// Join puts several remarks into one, with a separator between them, as strings.Join does.
func Join(remarks []Remark, separator string) Remark {
	var all Remark
	for i, r := range remarks {
		if i > 0 {
			all.Text += separator
		}
		all = all.followedBy(r)
	}
	return all
}

// Because returns a clause that ends a sentence with an error; empty if there is none.
func Because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// Merge makes one sentence of remarks, of which there is at least one. Its figures are ranges over all remarks, and it
// counts them: "2.7–4ms late (2 alike)". It panics if their forms differ.
func Merge(remarks []Remark) string {
	first := remarks[0]
	if len(remarks) == 1 {
		return first.Text
	}
	for _, r := range remarks {
		if r.Form() != first.Form() {
			panic(fmt.Sprintf("remark: %q and %q differ in more than their figures", first.Text, r.Text))
		}
	}
	merged := first.withFigures(func(i int) string {
		byFigure := func(a, b Remark) int { return cmp.Compare(a.Figures[i].Value, b.Figures[i].Value) }
		lowest, highest := slices.MinFunc(remarks, byFigure), slices.MaxFunc(remarks, byFigure)
		return rangeText(lowest.Figures[i].Text, highest.Figures[i].Text)
	})
	return fmt.Sprintf("%s (%d alike)", merged, len(remarks))
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
