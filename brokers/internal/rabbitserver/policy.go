package rabbitserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

// policyPrefix marks the server settings that make up a policy for all queues: policy.ha-mode.
const policyPrefix = "policy."

// mirroring are the settings that, before 4.0, only a policy can give a queue, with their allowed words; nil for a number.
// Everything else in a policy can also be set as a queue argument.
var mirroring = map[string][]string{
	"ha-mode":                {"all", "exactly"},
	"ha-params":              nil,
	"ha-sync-mode":           {"manual", "automatic"},
	"ha-sync-batch-size":     nil,
	"ha-promote-on-failure":  {"always", "when-synced"},
	"ha-promote-on-shutdown": {"always", "when-synced"},
	"queue-mode":             {"default", "lazy"},
}

// Policy returns the policy in the settings of a server of that version; nil if there is none.
func Policy(version string, settings map[string]any) (map[string]any, error) {
	var policy map[string]any
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		key, ok := strings.CutPrefix(name, policyPrefix)
		if !ok {
			continue
		}
		words, known := mirroring[key]
		text := provision.Text(settings[name])
		number, err := strconv.Atoi(text)
		switch {
		case !known:
			return nil, &provision.ErrSetting{Name: name, Reason: "policies that can be set here are of mirrored and lazy queues, other properties are queue arguments; the nearest is " +
				policyPrefix + suggest.Closest(key, slices.Collect(maps.Keys(mirroring)))}
		case !strings.HasPrefix(version, "3."):
			return nil, &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("RabbitMQ %s has neither mirrored nor lazy classic queues; 3.10.8 has", version)}
		case words != nil && !slices.Contains(words, text):
			return nil, &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not one of %s", text, strings.Join(words, ", "))}
		case words == nil && (err != nil || number < 1):
			return nil, &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not a number from 1", text)}
		}
		if policy == nil {
			policy = map[string]any{}
		}
		if policy[key] = any(text); words == nil {
			policy[key] = number
		}
	}
	return policy, complete(policy)
}

// complete refuses keys that have no effect without another.
func complete(policy map[string]any) error {
	mode := policy["ha-mode"]
	for _, key := range slices.Sorted(maps.Keys(policy)) {
		if strings.HasPrefix(key, "ha-") && mode == nil {
			return &provision.ErrSetting{Name: policyPrefix + key, Reason: "without policy.ha-mode no queue has mirrors"}
		}
	}
	if (policy["ha-params"] != nil) != (mode == "exactly") {
		return &provision.ErrSetting{Name: policyPrefix + "ha-params", Reason: "it is the number of copies with policy.ha-mode: exactly, and goes with that alone"}
	}
	return nil
}

// Copies returns how many nodes of a cluster of that size have each classic queue under that policy.
func Copies(policy map[string]any, nodes int) int {
	switch policy["ha-mode"] {
	case "all":
		return nodes
	case "exactly":
		n, _ := policy["ha-params"].(int)
		return min(n, nodes)
	}
	return 1
}

// setPolicy has the cluster apply the policy to all queues, including later ones.
func setPolicy(ctx context.Context, c *provision.Cluster) error {
	policy, err := Policy(c.Version, c.Settings)
	if err != nil || policy == nil {
		return err
	}
	definition, err := json.Marshal(policy)
	if err != nil {
		return err
	}
	_, err = control(ctx, c.Nodes[0], "set_policy", "--apply-to", "queues", "brokermark", ".*", string(definition))
	return err
}

// mirrorsInSync returns the smallest number of nodes that have a mirrored queue completely. Each line lists a queue's
// mirrors and those in step with it.
func mirrorsInSync(lines string) int {
	least := 0
	for line := range strings.Lines(lines) {
		mirrors, inStep, ok := strings.Cut(line, "\t")
		if n := 1 + strings.Count(inStep, "<"); ok && strings.Contains(mirrors, "<") && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// both returns the smaller of two numbers of nodes; 0 stands for none.
func both(a, b int) int {
	if a == 0 || b == 0 {
		return cmp.Or(a, b)
	}
	return min(a, b)
}
