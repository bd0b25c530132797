package remark_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/brokermark/brokermark/internal/remark"
)

func TestARemarkKnowsItsFigures(t *testing.T) {
	inner := remark.Of("%d of %d deliveries never came", 3, 900)
	for _, c := range []struct {
		got     remark.Remark
		text    string
		figures []remark.Figure
	}{
		{remark.Of("nothing came"), "nothing came", nil},
		{remark.Of("failed: %v", errors.New("port 5672 is closed")), "failed: port 5672 is closed", nil},
		{remark.Of("%s was told", "a NUL \x00"), "a NUL  was told", nil},
		{remark.Of("%v and %v", nil, error(nil)), "<nil> and <nil>", nil},
		{remark.Of("%*d of %[2]d", 5, 3), "    3 of 3", nil},
		{remark.Of("%.1f %% for %s", 12.34, 2700*time.Microsecond), "12.3 % for 2.7ms", []remark.Figure{{0, "12.3", 12.34}, {11, "2.7ms", 2.7e6}}},
		{remark.Of("at %.6g/s: %s; kafka", 8e3, inner), "at 8000/s: 3 of 900 deliveries never came; kafka", []remark.Figure{{3, "8000", 8000}, {11, "3", 3}, {16, "900", 900}}},
	} {
		if c.got.Text != c.text || !reflect.DeepEqual(c.got.Figures, c.figures) {
			t.Errorf("got %+v, want %q with %v", c.got, c.text, c.figures)
		}
	}
}

func TestFiguresThatAreNotInTheTextAreLeftOut(t *testing.T) {
	r := remark.Of("%d of %d late", 3, 9)
	if got := remark.Stored(r.Text, r.Figures); !reflect.DeepEqual(got, r) {
		t.Errorf("got %+v, want %+v", got, r)
	}
	for _, bad := range [][]remark.Figure{
		{{-1, "3", 3}}, {{99, "3", 3}}, {{0, "4", 4}}, {{5, "9", 9}, {0, "3", 3}}, {{0, "3 of 9 late and more", 3}},
	} {
		if got := remark.Stored(r.Text, bad); got.Text != r.Text || got.Figures != nil {
			t.Errorf("%v: got %+v", bad, got)
		}
	}
}

// A record from elsewhere may hold any byte.
func TestAStoredTextWithoutFiguresHasThePlaceOfNone(t *testing.T) {
	whole, foreign := remark.Stored("a5", []remark.Figure{{At: 1, Text: "5", Value: 5}}), remark.Stored("a\x00", nil)
	if whole.Form() == foreign.Form() || foreign.Text != "a" {
		t.Errorf("%q and %q have one form: joined they are %q", whole.Text, foreign.Text, remark.Merge([]remark.Remark{whole, foreign}))
	}
}

func TestRemarksOfOneFormAreToldWithTheSpanOfTheirFigures(t *testing.T) {
	late := func(d time.Duration) remark.Remark { return remark.Of("%s of %d late", d, 9) }
	for want, remarks := range map[string][]remark.Remark{
		"3ms of 9 late":                   {late(3 * time.Millisecond)},
		"3–5.5ms of 9 late (3 alike)":     {late(4 * time.Millisecond), late(5500 * time.Microsecond), late(3 * time.Millisecond)},
		"950µs–1.2s of 9 late (2 alike)":  {late(1200 * time.Millisecond), late(950 * time.Microsecond)},
		"950ms–1.2s of 9 late (2 alike)":  {late(950 * time.Millisecond), late(1200 * time.Millisecond)},
		"1.5s–1m3s of 9 late (2 alike)":   {late(63 * time.Second), late(1500 * time.Millisecond)},
		"1m3s–2m5s of 9 late (2 alike)":   {late(63 * time.Second), late(125 * time.Second)},
		"9–10 messages (2 alike)":         {remark.Of("%d messages", 10), remark.Of("%d messages", 9)},
		"100 messages of kafka (2 alike)": {remark.Of("%d messages of kafka", 100), remark.Of("%d messages of kafka", 100)},
	} {
		if got := remark.Merge(remarks); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if one, other := remark.Of("%d of %s", 3, "kafka"), remark.Of("%d of %s", 3, "nats"); one.Form() == other.Form() {
		t.Errorf("words tell remarks apart: %q", one.Form())
	}
}

// Remarks quote servers, which say what they like, and as much as they like.
func TestARemarkIsBoundedAndHasNoControlCharacters(t *testing.T) {
	long := strings.Repeat("\u00e4", 1<<20)
	r := remark.Of("%d of %d: %s, then %d", 3, 4, errors.New("a\x1b[2Jb\r\nc\u009bd\te"+long), 5)
	if !strings.HasPrefix(r.Text, "3 of 4: a[2Jb\ncd\te\u00e4") || !strings.HasSuffix(r.Text, "… (2080794 bytes more)") || len(r.Text) > 17<<10 || !utf8.ValidString(r.Text) {
		t.Errorf("%d bytes: %.60q … %q", len(r.Text), r.Text, r.Text[len(r.Text)-40:])
	}
	if len(r.Figures) != 2 || r.Figures[1].Value != 4 {
		t.Errorf("figures %v", r.Figures)
	}
}
