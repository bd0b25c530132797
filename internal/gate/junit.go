package gate

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"github.com/brokermark/brokermark/internal/results"
)

// WriteJUnit writes verdicts as JUnit XML: a suite for each condition and one for how the points ended, with a case
// for each point. Failed and undecided verdicts are failures. Only the suite of how the points ended has times: all
// conditions judge the same repetitions.
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

// junitSuites is the root element. The format has no standard; these are the elements and attributes that Jenkins,
// GitLab and GitHub read.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

// junitSuite is the verdicts on one condition. No verdict is an error, but some readers expect the attribute.
type junitSuite struct {
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     junitSeconds `xml:"time,attr"`
	Cases    []junitCase  `xml:"testcase"`
}

// junitCase is a verdict. It has a Failure, or Skipped, or neither if it passed.
type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Time    junitSeconds `xml:"time,attr"`
	Failure *junitCause  `xml:"failure"`
	Skipped *junitCause  `xml:"skipped"`
	Output  string       `xml:"system-out,omitempty"`
}

// junitCause is why a case failed or was skipped.
type junitCause struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
}

// junitSeconds is a time in seconds, written with three decimals.
type junitSeconds float64

// MarshalText implements [encoding.TextMarshaler].
func (s junitSeconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', 3, 64), nil
}

// suitesOf sorts verdicts into suites, in the order in which their conditions first appear.
func suitesOf(verdicts []Verdict) junitSuites {
	all := junitSuites{Name: "brokermark"}
	nameOf := func(v Verdict) string { return cmp.Or(v.Condition, "points") }
	for _, g := range results.GroupBy(verdicts, nameOf) {
		suite := junitSuite{Name: g.Name, Tests: len(g.Members)}
		for _, v := range g.Members {
			c := caseOf(v, g.Name)
			suite.Cases = append(suite.Cases, c)
			suite.Time += c.Time
			if c.Failure != nil {
				suite.Failures++
			}
			if c.Skipped != nil {
				suite.Skipped++
			}
		}
		all.Suites = append(all.Suites, suite)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Skipped += suite.Skipped
	}
	return all
}

// caseOf returns a verdict as a case of the named suite.
func caseOf(v Verdict, suite string) junitCase {
	c := junitCase{Name: v.Point, Class: "brokermark"}
	if v.Study != "" {
		c.Class += "." + v.Study
	}
	if v.Condition == "" {
		c.Time = junitSeconds(v.Seconds)
	}
	switch v.Outcome {
	case Passed:
		c.Output = v.Text
	case Failed, Undecided:
		c.Failure = &junitCause{Message: v.Text, Type: suite}
	case Skipped:
		c.Skipped = &junitCause{Message: v.Text}
	default:
		panic(fmt.Sprintf("gate: outcome %q", v.Outcome))
	}
	return c
}
