package gate_test

import (
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/gate"
)

type readSuites struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
		Cases    []struct {
			Name    string     `xml:"name,attr"`
			Class   string     `xml:"classname,attr"`
			Time    string     `xml:"time,attr"`
			Failure *readCause `xml:"failure"`
			Skipped *readCause `xml:"skipped"`
			Output  string     `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type readCause struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
}

// Any list of verdicts comes back from the XML: each in the suite of its condition, in order, with its outcome and words,
// and every sum is that of the cases.
func TestJUnitIsReadBackAsTheVerdictsThatWereWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for round := range 50 {
		var verdicts []gate.Verdict
		for i := range random.IntN(12) {
			verdicts = append(verdicts, gate.Verdict{
				Condition: []string{"", "lost > 0", "e2e_p99 > 1ms"}[random.IntN(3)], Study: []string{"", "s"}[random.IntN(2)],
				Point: fmt.Sprintf("point <%d>", i), Outcome: []gate.Outcome{gate.Passed, gate.Failed, gate.Skipped}[random.IntN(3)],
				Text: fmt.Sprintf("seen %d & more", random.IntN(100)), Seconds: float64(random.IntN(5000)) / 1000,
			})
		}
		var out strings.Builder
		var read readSuites
		if err := gate.WriteJUnit(&out, verdicts); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal([]byte(out.String()), &read); err != nil {
			t.Fatalf("round %d: %v in\n%s", round, err, out.String())
		}
		if !strings.HasPrefix(out.String(), xml.Header) || !strings.HasSuffix(out.String(), "</testsuites>\n") {
			t.Errorf("not a whole document, header and last line included:\n%s", out.String())
		}
		count := func(vs []gate.Verdict, o gate.Outcome) (n int) {
			for _, v := range vs {
				if v.Outcome == o {
					n++
				}
			}
			return n
		}
		if read.Name != "brokermark" || read.Tests != len(verdicts) || read.Failures != count(verdicts, gate.Failed) || read.Failures != gate.Failures(verdicts) || read.Skipped != count(verdicts, gate.Skipped) {
			t.Fatalf("round %d: %+v of %+v", round, read, verdicts)
		}
		var order []string
		suites := map[string][]gate.Verdict{}
		for _, v := range verdicts {
			if suites[v.Condition] == nil {
				order = append(order, v.Condition)
			}
			suites[v.Condition] = append(suites[v.Condition], v)
		}
		for i, condition := range order {
			s, want := read.Suites[i], suites[condition]
			name := condition
			if name == "" {
				name = "points"
			}
			took := 0.0 // a suite takes as long as its cases
			for _, v := range want {
				if condition == "" {
					took += v.Seconds
				}
			}
			if s.Name != name || s.Tests != len(want) || len(s.Cases) != len(want) || s.Failures != count(want, gate.Failed) || s.Skipped != count(want, gate.Skipped) || s.Errors != 0 || s.Time != fmt.Sprintf("%.3f", took) {
				t.Fatalf("round %d, suite %q: %+v, want %+v", round, name, s, want)
			}
			for j, v := range want {
				c := s.Cases[j]
				class, seconds, failure, skipped, output := "brokermark", 0.0, "", "", ""
				if v.Study != "" {
					class += ".s"
				}
				if condition == "" { // all conditions judge the same repetitions, whose time is told once
					seconds = v.Seconds
				}
				switch v.Outcome {
				case gate.Failed:
					failure = v.Text + " of " + name
				case gate.Skipped:
					skipped = v.Text
				default:
					output = v.Text
				}
				got := [2]string{}
				if c.Failure != nil {
					got[0] = c.Failure.Message + " of " + c.Failure.Type
				}
				if c.Skipped != nil {
					got[1] = c.Skipped.Message
				}
				if c.Name != v.Point || c.Class != class || c.Time != fmt.Sprintf("%.3f", seconds) || got != [2]string{failure, skipped} || c.Output != output {
					t.Fatalf("round %d: %+v, want %+v", round, c, v)
				}
			}
		}
	}
}

// full refuses to write after so many bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, fmt.Errorf("the disk is full")
	}
	return len(p), nil
}

func TestJUnitThatCantBeWrittenIsAnError(t *testing.T) {
	var whole strings.Builder
	verdicts := []gate.Verdict{{Point: "x", Outcome: gate.Passed, Text: "fine"}}
	if err := gate.WriteJUnit(&whole, verdicts); err != nil {
		t.Fatal(err)
	}
	for room := range whole.Len() {
		if err := gate.WriteJUnit(&full{room}, verdicts); err == nil {
			t.Fatalf("%d bytes of %d and no error", room, whole.Len())
		}
	}
	if err := gate.WriteJUnit(&full{whole.Len()}, verdicts); err != nil {
		t.Error(err)
	}
}
