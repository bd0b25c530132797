package gate

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// WriteJUnit writes verdicts as JUnit XML: a suite per condition, and one for how the points ended; a case per point.
func WriteJUnit(w io.Writer, verdicts []Verdict) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	out := xml.NewEncoder(w)
	out.Indent("", "  ")
	if err := out.Encode(suitesOf(verdicts)); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	return nil
}

// junitSuites is the root element. The elements and attributes are those that Jenkins, GitLab and GitHub read.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	Time    string      `xml:"time,attr"`
	Failure *junitCause `xml:"failure"`
	Skipped *junitCause `xml:"skipped"`
	Output  string      `xml:"system-out,omitempty"`
}

type junitCause struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
}

// suitesOf sorts verdicts into suites, in the order in which their conditions first appear.
func suitesOf(verdicts []Verdict) junitSuites {
	all := junitSuites{Name: "brokermark"}
	for _, v := range verdicts {
		name := cmp.Or(v.Condition, "points")
		i := slices.IndexFunc(all.Suites, func(s junitSuite) bool { return s.Name == name })
		if i < 0 {
			i = len(all.Suites)
			all.Suites = append(all.Suites, junitSuite{Name: name, Time: junitSeconds(0)})
		}
		all.Suites[i].add(caseOf(v, name))
	}
	for _, s := range all.Suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Skipped += s.Skipped
	}
	return all
}

// caseOf is a verdict as a case of the named suite.
func caseOf(v Verdict, suite string) junitCase {
	c := junitCase{Name: v.Point, Class: "brokermark", Time: junitSeconds(0)}
	if v.Study != "" {
		c.Class += "." + v.Study
	}
	if v.Condition == "" {
		c.Time = junitSeconds(v.Seconds) // only here: all conditions judge the same repetitions
	}
	switch v.Outcome {
	case Failed, Undecided:
		c.Failure = &junitCause{Message: v.Text, Type: suite}
	case Skipped:
		c.Skipped = &junitCause{Message: v.Text}
	default:
		c.Output = v.Text
	}
	return c
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}

func junitSeconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }
