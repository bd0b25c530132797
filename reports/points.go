// The points report: for each point the complete spec as YAML, every default filled in, then the
// settings, versions and host that were in force. A study that holds the spec repeats the point:
//
//	broker: kafka
//	delivery: at-least-once
//	messageSize: 100

package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

func init() {
	Register(Report{
		Name:  "points",
		Doc:   "everything needed to repeat each point: its complete spec, the settings in force, versions and host",
		Build: pointsReport,
	})
}

func pointsReport(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Points"}
	d.Say(statusSentence(set.Points))
	cache := yamlCache{}
	for _, p := range set.Points {
		d.Add(document.Heading{Level: 1, Text: fmt.Sprintf("%s, %s, %s (point %s)", p.Name, p.Setting(), p.Load(), p.ID)})
		d.Say(repetitionsSentence(p))
		last := p.Records[len(p.Records)-1]
		spec, err := cache.write(last.Spec)
		if err != nil {
			return d, fmt.Errorf("write the spec of point %s as YAML: %w", p.ID, err)
		}
		settings, err := cache.write(inForce{Settings: last.Settings, Versions: last.Versions, Host: last.Host})
		if err != nil {
			return d, fmt.Errorf("write the settings of point %s as YAML: %w", p.ID, err)
		}
		d.Say("The complete spec, every default filled in:")
		d.Add(document.Listing{Text: spec})
		d.Say("What was in force:")
		d.Add(document.Listing{Text: settings})
		d.Warn("the repetitions of this point", results.Residue(p.Records))
	}
	return d, nil
}

// inForce is what a spec leaves open: the settings that broker and client had, their versions, and the
// machine.
type inForce struct {
	Settings results.Settings `json:"settings"`
	Versions results.Versions `json:"versions"`
	Host     results.Host     `json:"host"`
}

// repetitionsSentence says how each repetition of p ended, and when it ran.
func repetitionsSentence(p results.Point) string {
	var words []string
	for _, r := range p.Records {
		text := fmt.Sprintf("repetition %d %s", r.Repetition, endingText(r))
		if !r.Began.IsZero() {
			text += fmt.Sprintf(", %s, took %s", r.Began.UTC().Format(time.RFC3339), r.Ended.Sub(r.Began).Round(time.Second))
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ") + "."
}

// yamlCache holds the YAML of fields, by their name and their value as JSON. Writing YAML is slow, and
// the points of a study differ in two fields of fifty.
type yamlCache map[string]string

// write writes a struct as YAML. It goes by way of JSON, field by field: the JSON tags hold the names
// and the order of a spec, and JSON is YAML in flow style.
func (y yamlCache) write(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	decoder := json.NewDecoder(bytes.NewReader(data))
	if _, err := decoder.Token(); err != nil { // the opening brace
		return "", err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return "", err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return "", err
		}
		lines, err := y.writeField(fmt.Sprint(name), value)
		if err != nil {
			return "", err
		}
		out.WriteString(lines)
	}
	return out.String(), nil
}

func (y yamlCache) writeField(name string, value json.RawMessage) (string, error) {
	key := name + "\x00" + string(value)
	if lines, ok := y[key]; ok {
		return lines, nil
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return "", err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(slices.Concat([]byte("{"), quoted, []byte(": "), value, []byte("}")), &node); err != nil {
		return "", err
	}
	setPlainStyle(&node)
	lines, err := yaml.Marshal(&node)
	if err != nil {
		return "", err
	}
	y[key] = string(lines)
	return string(lines), nil
}

// setPlainStyle gives a tree YAML's default style: no braces, and quotes only where the encoder needs
// them.
func setPlainStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		setPlainStyle(child)
	}
}
