package gate

import (
	"encoding/xml"
	"io"
	"strconv"
)

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

// WriteJUnit writes verdicts as JUnit XML: a suite per condition, and one for how the points ended; a case per point.
func WriteJUnit(w io.Writer, verdicts []Verdict) error {
	all := junitSuites{Name: "brokermark"}
	at := map[string]int{}
	for _, v := range verdicts {
		name := v.Condition
		if name == "" {
			name = "points"
		}
		if _, known := at[name]; !known {
			at[name] = len(all.Suites)
			all.Suites = append(all.Suites, junitSuite{Name: name, Time: seconds(0)})
		}
		s := &all.Suites[at[name]]
		c := junitCase{Name: v.Point, Class: "brokermark", Time: seconds(0)}
		if v.Study != "" {
			c.Class += "." + v.Study
		}
		if v.Condition == "" {
			c.Time = seconds(v.Seconds) // once: the same repetitions are judged by all conditions
		}
		switch v.Outcome {
		case Failed, Undecided:
			c.Failure = &junitCause{Message: v.Text, Type: name}
			s.Failures++
			all.Failures++
		case Skipped:
			c.Skipped = &junitCause{Message: v.Text}
			s.Skipped++
			all.Skipped++
		default:
			c.Output = v.Text
		}
		s.Tests++
		all.Tests++
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	out := xml.NewEncoder(w)
	out.Indent("", "  ")
	if err := out.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }
