package studies_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	_ "github.com/brokermark/brokermark/brokers" // their speeds
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/verdict"
	"github.com/brokermark/brokermark/studies"
)

// open reads a study that comes with the program at a scale.
func open(t *testing.T, name, scale string) (*study.Study, []study.Point) {
	t.Helper()
	data, err := studies.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse(name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	if s.Files, err = studies.FS(name); err != nil {
		t.Fatal(err)
	}
	if err := s.Scale(scale); err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	return s, points
}

// ran is what a paper ran in an experiment, read off its text: all the combinations.
type ran struct {
	section string
	points  int
	of      func(yield func(string))   // each combination as words
	words   func(p study.Point) string // those of a point
}

// steps are from, from+step, … to.
func steps(from, to, step int) (out []int) {
	for i := from; i <= to; i += step {
		out = append(out, i)
	}
	return out
}

// holds compares an experiment, for then and for now, with what the paper ran.
func (r ran) holds(t *testing.T, name string, points []study.Point) {
	t.Helper()
	want := map[string]bool{}
	r.of(func(words string) { want[words] = true })
	if len(want) != r.points {
		t.Fatalf("%s: %d combinations, but section %s has %d", name, len(want), r.section, r.points)
	}
	got := map[string]map[string]int{}
	for _, p := range points {
		if p.Axes["sweep"] == name {
			when := p.Axes["when"]
			if got[when] == nil {
				got[when] = map[string]int{}
			}
			got[when][r.words(p)]++
		}
	}
	if len(got) == 0 {
		t.Errorf("%s: no point", name)
	}
	for when, have := range got {
		for _, words := range slices.Sorted(maps.Keys(want)) {
			if have[words] != 1 && !unobtainable(when, words) {
				t.Errorf("%s, %s: %q is there %d times, want 1", name, when, words, have[words])
			}
			delete(have, words)
		}
		for words, n := range have {
			t.Errorf("%s, %s: %q is there %d times, and the paper did not run it", name, when, words, n)
		}
	}
}

func TestEachFullGridIsExactlyWhatThePaperRan(t *testing.T) {
	for name, paper := range papers {
		s, points := open(t, name, study.Full)
		if got, want := s.Experiments(), slices.Sorted(maps.Keys(paper.ran)); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("%s: experiments %v, want %v", name, got, want)
		}
		versions := map[string]int{}
		whens := map[string]int{}
		for _, p := range points {
			versions[p.Axes["when"]+" "+p.Spec.Broker+"@"+p.Spec.Version]++
			whens[p.Axes["when"]]++
		}
		for when, n := range whens {
			if want := paper.points - missing(paper.ran, when); n != want {
				t.Errorf("%s: %d points %s, want %d", name, n, when, want)
			}
		}
		if got := strings.Join(slices.Sorted(maps.Keys(versions)), ", "); got != paper.versions {
			t.Errorf("%s: versions %s", name, got)
		}
		for experiment, r := range paper.ran {
			r.holds(t, experiment, points)
		}
	}
}

// leftOut are ends that a scale has no time for, and of which no claim is: one consumer works on such a backlog for five minutes.
var leftOut = map[string]string{
	"dyjach-2024 paper backlog-10kB consumerPerSubscription": "1",
	"dyjach-2024 paper backlog-50kB consumerPerSubscription": "1",
}

func TestSmallerScalesKeepTheEndsAndTheMiddleOfEachAxis(t *testing.T) {
	for name := range papers {
		_, points := open(t, name, study.Full)
		whole := valuesOf(points)
		for _, scale := range smaller(t, name) {
			_, points := open(t, name, scale)
			kept := valuesOf(points)
			if !slices.Equal(slices.Sorted(maps.Keys(whole)), slices.Sorted(maps.Keys(kept))) {
				t.Errorf("%s: %s has the axes %v", name, scale, slices.Sorted(maps.Keys(kept)))
			}
			for axis, values := range whole {
				if missing := lost(axis, values, kept[axis]); missing != "" && leftOut[name+" "+scale+" "+axis] != missing {
					t.Errorf("%s, %s: %s is left with %v of %v: no %s", name, scale, axis, kept[axis], values, missing)
				}
			}
		}
	}
}

// smaller lists the scales of a study but for the whole.
func smaller(t *testing.T, name string) []string {
	s, _ := open(t, name, study.Full)
	if s.UsualScale() != "quick" {
		t.Errorf("%s is run at scale %s unless asked otherwise", name, s.UsualScale())
	}
	return slices.DeleteFunc(s.Scales(), func(scale string) bool { return scale == study.Full })
}

// lost says which end, or the middle, is missing of an axis' values; "" if nothing is.
func lost(axis string, values, left []string) string {
	ends := []string{values[0], values[len(values)-1]}
	isInside := func(v string) bool { return !slices.Contains(ends, v) }
	if axis == "latency-by-number count.messages" { // the thesis names no numbers: these are smaller ones
		ends = nil
	}
	for _, end := range ends {
		if !slices.Contains(left, end) {
			return end
		}
	}
	if len(values) > 2 && !slices.ContainsFunc(left, isInside) {
		return "middle"
	}
	return ""
}

// valuesOf lists the values of each axis of each experiment in the order of the points.
func valuesOf(points []study.Point) map[string][]string {
	out := map[string][]string{}
	for _, p := range points {
		for axis, value := range p.Axes {
			if key := p.Axes["sweep"] + " " + axis; !slices.Contains(out[key], value) {
				out[key] = append(out[key], value)
			}
		}
	}
	return out
}

func TestAStudyTakesTenMinutesAtScaleQuickAndOneToSixHoursAtScalePaper(t *testing.T) {
	for name := range papers {
		for _, scale := range smaller(t, name) {
			from, to, repeats := 0.0, 600.0, 1
			if scale == "paper" {
				from, to, repeats = 3600, 6*3600, 3
			}
			s, points := open(t, name, scale)
			seconds, brokers := 0.0, study.Started{}
			for _, p := range points {
				key := lab.SharedBroker(p.Spec)
				if key == "" {
					t.Errorf("%s: %s starts a broker of its own", name, p.Label)
				}
				for repetition := range s.Repeats {
					seconds += study.EstimateSeconds(p.Spec) + brokers.Seconds(fmt.Sprint(repetition, key), p.Spec)
				}
			}
			t.Logf("%s, %s: %d points, %d brokers, %.0f s", name, scale, len(points), len(brokers), seconds)
			if seconds < from || seconds > to {
				t.Errorf("%s, %s: about %.0f s with the starts of %d brokers; allowed: %.0f to %.0f", name, scale, seconds, len(brokers), from, to)
			}
			if s.Repeats < repeats {
				t.Errorf("%s, %s: %d repetitions, want %d", name, scale, s.Repeats, repeats)
			}
		}
	}
}

// None of the five texts says that anything was repeated: at scale full each point is measured once, as there. A study of
// our own ends in a test; the demo doesn't, and says how it would.
func TestTheFullScaleRepeatsAsThePaperDidOrEnoughForATest(t *testing.T) {
	for _, name := range studies.Names() {
		s, points := open(t, name, study.Full)
		brokers := map[string]bool{}
		for _, p := range points {
			brokers[p.Spec.Broker] = true
		}
		switch need := verdict.Enough; {
		case s.Source != "":
			if s.Repeats != 1 {
				t.Errorf("%s: %d repetitions, but its text tells of none", name, s.Repeats)
			}
		case len(brokers) < 2:
		case s.Repeats < need && !strings.Contains(s.Description, "--repeat 5"):
			t.Errorf("%s: %d repetitions, and deciding between %d brokers needs %d", name, s.Repeats, len(brokers), need)
		}
	}
}
