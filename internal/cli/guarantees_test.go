package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestTheMatrixAnswersEveryGuaranteeOfEveryBroker(t *testing.T) {
	out := brokermark(t, "list", "guarantees", "--format", "jsonl").want(t, 0).out
	answers := map[string]map[string]bool{} // by broker: what kept says
	for line := range strings.Lines(out) {
		var row struct{ Broker, Delivery, Kept, How, Proof string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if row.Broker == "" {
			continue // a paragraph
		}
		if answers[row.Broker] == nil {
			answers[row.Broker] = map[string]bool{}
		}
		answers[row.Broker][row.Kept] = true
		switch {
		case row.How == "":
			t.Errorf("%s: no settings and no reason: %s", row.Broker, line)
		case row.Kept == "yes" && row.Proof == "":
			t.Errorf("%s: kept without a proof: %s", row.Broker, line)
		}
	}
	for _, name := range driver.Names() {
		if !answers[name]["yes"] {
			t.Errorf("%s keeps nothing, or isn't there", name)
		}
	}
}
