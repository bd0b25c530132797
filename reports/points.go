// The points report: for each point the complete spec as YAML, every default filled in, then the
// settings, versions and host that were in force. A study that holds the spec repeats the point:
//
//	broker: kafka
//	delivery: at-least-once
//	messageSize: 100

package reports

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
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
	for _, p := range set.Points {
		d.Add(document.Heading{Level: 1, Text: fmt.Sprintf("%s, %s, %s (point %s)", p.Name, p.Title(), p.Load(), p.ID)})
		d.Say(repetitionsSentence(p))
		last := p.Records[len(p.Records)-1] // the warning below tells in what the others differ from it
		spec, err := yamlOf(last.Spec)
		if err != nil {
			return d, fmt.Errorf("write the spec of point %s as YAML: %w", p.ID, err)
		}
		settings, err := yamlOf(inForce{Settings: withValue(last.Settings), Versions: last.Versions, Host: last.Host})
		if err != nil {
			return d, fmt.Errorf("write the settings of point %s as YAML: %w", p.ID, err)
		}
		d.Say("The complete spec, every default filled in:")
		d.Add(document.Listing{Text: spec})
		d.Say("What was in force, beside the broker's own defaults:")
		d.Add(document.Listing{Text: settings})
		d.Add(pasted(last)...)
		d.Warn("the repetitions of this point", results.Residue(p.Records))
	}
	return d, nil
}

// pasted are the client's settings as they are pasted into clients of other libraries, and which of those in force aren't to be pasted
// unread.
func pasted(r results.Record) (blocks []document.Block) {
	if names := study.Untrusted(r.Spec.Broker, map[string]map[string]any{
		"server.": r.Settings.Server, "client.": r.Settings.Client, "topicConfig.": r.Settings.Topic,
	}); len(names) > 0 {
		blocks = append(blocks, document.Paragraph{Text: "Records may come from elsewhere. Before you paste these, know what they do, since such settings " +
			"can load code, run commands, use files or listen: " + results.Enumerate(names) + "."})
	}
	for _, p := range results.Paste(r.Spec) {
		blocks = append(blocks, document.Paragraph{Text: "The client's settings for " + p.Library + ":"}, document.Listing{Text: p.Text})
		if len(p.Without) > 0 {
			blocks = append(blocks, document.Paragraph{Text: "Without counterpart there: " + strings.Join(p.Without, "; ") + "."})
		}
	}
	return blocks
}

// inForce is what a spec leaves open: the settings that broker and client had, their versions, and the
// machine.
type inForce struct {
	Settings results.Settings `json:"settings"`
	Versions results.Versions `json:"versions"`
	Host     results.Host     `json:"host"`
}

// withValue leaves out the settings with an empty text, which leave it to the broker or the client library.
func withValue(s results.Settings) results.Settings {
	for _, values := range []*map[string]any{&s.Server, &s.Client, &s.Topic} {
		kept := maps.Clone(*values)
		maps.DeleteFunc(kept, func(_ string, value any) bool { return value == "" })
		*values = kept
	}
	return s
}

// repetitionsSentence says how each repetition of p ended, and when it ran.
func repetitionsSentence(p results.Point) string {
	var words []string
	for _, r := range p.Records {
		text := fmt.Sprintf("repetition %d %s", r.Repetition, endingText(r))
		if !r.Began.IsZero() {
			text += ", " + r.Began.UTC().Format(time.RFC3339)
		}
		if took := r.Took(); took > 0 {
			text += ", took " + took.Round(time.Second).String()
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ") + "."
}

// yamlOf writes a struct as YAML. It goes by way of JSON, which is YAML in another style: the JSON tags
// hold the names and the order of a spec.
func yamlOf(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var tree yaml.Node
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return "", err
	}
	setPlainStyle(&tree)
	text, err := yaml.Marshal(&tree)
	return string(text), err
}

// setPlainStyle gives a tree YAML's default style: no braces, and quotes only where the encoder needs
// them.
func setPlainStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		setPlainStyle(child)
	}
}
