package study

import (
	"fmt"
	"testing"
)

func TestHeadersAreNamesAndValuesOrANumberOfThem(t *testing.T) {
	for doc, want := range map[string]string{
		"headers: {content-type: application/json, n: 7}":         `[{content-type application/json 0} {n 7 0}]`,
		"headers: {count: 2, size: 1KiB}":                         `[{h1  1024} {h2  1024}]`,
		"headers: {}":                                             `[]`,
		"headers: 5":                                              `f.yaml:1: headers: "5" is not a mapping of names to values, such as {content-type: application/json}, or {count: 5, size: 20}`,
		"headers: {a: [1]}":                                       `f.yaml:1: headers.a: a list is not a single value: headers are texts, numbers, true or false`,
		"headers: {count: 2}":                                     `f.yaml:1: headers: allowed: count and size together, or other names with their values`,
		"headers: {count: 2, size: 8, a: b}":                      `f.yaml:1: headers: allowed: count and size together, or other names with their values`,
		"headers: {count: 0, size: 8}":                            `f.yaml:1: headers: count 0 is out of range; allowed: 1 to 100`,
		"headers: {count: 5, size: big}":                          `f.yaml:1: headers: size big is out of range; allowed: 1 to 16384 bytes`,
		"headers: {count: 100, size: 1KiB}":                       `f.yaml:1: headers: names and values have 102692 bytes; allowed: 16384`,
		"headers: {Brokermark: x}":                                `f.yaml:1: headers: "Brokermark" is the header of a message's identity`,
		"headers: {9: x}":                                         `f.yaml:1: headers: "9" is not a name; allowed: a letter, then letters, digits and . _ -, 100 at most`,
		"headers: {a: \"\"}":                                      `f.yaml:1: headers: a: "" is not a value; allowed: printable ASCII characters`,
		"headers: {a: \"x\\ny\"}":                                 `f.yaml:1: headers: a: "x\ny" is not a value; allowed: printable ASCII characters`,
		"headers: {a: b}\npipeline: {servers: 1}\nmeasure: count": `f.yaml:1: headers.a: not used with pipeline: what is posted are rides, by as many producers as the servers have`,
	} {
		s, err := Parse("f.yaml", []byte(doc))
		var points []Point
		if err == nil {
			points, err = s.Points()
		}
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(points[0].Spec.Headers.List())
		}
		if got != want {
			t.Errorf("%s\n  %s\nwant\n  %s", doc, got, want)
		}
	}
}

func TestHeadersArePartOfAPoint(t *testing.T) {
	ids := map[string]bool{}
	for _, doc := range []string{"", "headers: {count: 2, size: 8}", "headers: {count: 2, size: 9}", "headers: {a: 1}"} {
		ids[one(t, doc+"\nmeasure: peak").ID] = true
	}
	if len(ids) != 4 {
		t.Errorf("%d identities of 4 points", len(ids))
	}
	if one(t, `headers: {a: "1"}`).ID != one(t, "headers: {a: 1}").ID {
		t.Error("a number and its text are two points")
	}
}
