package lab_test

import (
	"testing"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Brokers that throttle let bursts pass. What they let through for good is what a closed loop gets through in a minute, after a warm-up that
// has used up the first burst.
func TestALimitThatABrokerImposesIsFoundWithinFivePercent(t *testing.T) {
	testkit.Long(t)
	for name, spec := range map[string]string{
		"kafka":  "broker: kafka@2.2.0\nmessageSize: 1000\nserver: {quota.producer.default: 2000000}\n",
		"pulsar": "broker: pulsar\nserver: {maxPublishRatePerTopicInMessages: 2000}\n",
	} {
		t.Run(name, func(t *testing.T) {
			h := sharedHost(t)
			spec += "persistence: log\ndelivery: at-least-once\n"
			truth := runPoint(t, parseSpec(t, spec+"measure: peak\nwarmup: 30s\nduration: 60s\n"), lab.Options{Host: h})
			if truth.Result == nil || truth.Result.Throughput == 0 {
				t.Fatalf("%s: %s", truth.Status, truth.Reason)
			}
			limit := truth.Result.Throughput
			for how, hold := range map[string]string{
				"as shipped":      "", // sustainable.confirm: 20s
				"in head-to-head": "sustainable: {trial: 1s, warmup: 200ms, confirm: 20s, confirms: 1, width: 0.1, budget: 100s}\n",
			} {
				r := runPoint(t, parseSpec(t, spec+"measure: sustainable\n"+hold), lab.Options{Host: h})
				if r.Result == nil || r.Result.Sustainable == nil {
					t.Errorf("%s: %s: %s", how, r.Status, r.Reason)
					continue
				}
				low, high := r.Result.Sustainable.Low, r.Result.Sustainable.High
				t.Logf("%s: %.0f to %.0f/s in %d trials; the limit is %.0f/s; %s", how, low, high, len(r.Result.Sustainable.Trials), limit, r.Result.Sustainable.Limits)
				if low > 1.05*limit || high < 0.95*limit {
					t.Errorf("%s: %.0f to %.0f/s; the limit is %.0f/s", how, low, high, limit)
				}
			}
		})
	}
}
