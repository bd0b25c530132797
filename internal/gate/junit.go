package gate

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// WriteJUnit writes verdicts as JUnit XML: a suite for each condition and one for how the points ended, with a case for each point.
//
//	<testsuite name="e2e_p99 &gt; 50ms" tests="1" failures="1" errors="0" skipped="0" time="0.000">
//	  <testcase name="kafka, 100 B, at-least-once, rate 1k/s" classname="brokermark.smoke" time="0.000">
//	    <failure message="61.2 ms (n=1)" type="e2e_p99 &gt; 50ms"></failure>
func WriteJUnit(w io.Writer, verdicts []Verdict) error {
	body, err := xml.MarshalIndent(suitesOf(verdicts), "", "  ")
	if err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", xml.Header, body); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	return nil
}

// junitSuites is the root element. The format has no standard; these are the elements and attributes that Jenkins, GitLab and GitHub read.
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
		c.Time = junitSeconds(v.Seconds) // in this suite only: all conditions judge the same repetitions, whose time would count several times
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
