package store

import (
	"encoding/json"
	"fmt"
)

// forms turn older forms of a record into the current one. Records are never edited in the store; they are brought up to
// date whenever they are read.
type forms struct {
	current int
	// steps[n] turns the JSON fields of a record of schema n into those of schema n+1. Records of a schema without a step can't be
	// read any more.
	steps map[int]func(fields map[string]json.RawMessage) error
}

// known are the forms of this version. Schema 1 is the first.
var known = forms{current: Schema}

// update brings a record's JSON from its schema to the current one.
func (f forms) update(schema int, body string) (string, error) {
	if schema == f.current {
		return body, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		return "", err
	}
	for n := schema; n < f.current; n++ {
		step := f.steps[n]
		if step == nil {
			return "", fmt.Errorf("its schema is %d, which this version can't read any more", schema)
		}
		if err := step(fields); err != nil {
			return "", fmt.Errorf("from schema %d to %d: %w", n, n+1, err)
		}
	}
	fields["schema"] = json.RawMessage(fmt.Sprint(f.current))
	out, err := json.Marshal(fields)
	return string(out), err
}
