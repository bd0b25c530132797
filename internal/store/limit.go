package store

import "slices"

// Limit is a possible bottleneck of a load, and what was observed of it (docs/explain.md).
type Limit struct {
	// Cause is generator | latency | broker | producer-delay | consumer-delay | cpu-limit | client | broker-thread | affinity | cpu | disk |
	// memory | client-window | client-send.
	Cause   string `json:"cause"`
	Seen    string `json:"seen"`              // a clause with the figures: "one thread of the broker, redis-server, at 98 % of a core"
	Reached bool   `json:"reached,omitempty"` // false: it is only the nearest to its limit of all that were checked
}

// Limits are the bottleneck of a load and the next one. They are empty if nothing was near its limit.
type Limits []Limit

// Are reports whether the bottleneck has one of these causes.
func (l Limits) Are(causes ...string) bool { return slices.Contains(causes, l.Cause()) }

// Cause is the cause of the bottleneck; empty if none was found.
func (l Limits) Cause() string {
	if len(l) == 0 || !l[0].Reached {
		return ""
	}
	return l[0].Cause
}

// String is a clause that names the bottleneck and the next one, or says that none was found.
func (l Limits) String() string {
	const none = "nothing that was looked at was at its limit"
	switch {
	case len(l) == 0:
		return none
	case !l[0].Reached:
		return none + "; nearest to it: " + l[0].Seen
	case len(l) == 1:
		return "the limit: " + l[0].Seen
	}
	return "the limit: " + l[0].Seen + "; next: " + l[1].Seen
}
