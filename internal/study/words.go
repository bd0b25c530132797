package study

import "slices"

// The words of a spec. The words of the guarantee are those of the driver contract.
const (
	atMostOnce  = "at-most-once"
	atLeastOnce = "at-least-once"
	exactlyOnce = "exactly-once"

	memory = "memory"
	log    = "log"
	fsync  = "fsync"

	acksNone   = "none"
	acksLeader = "leader"
	acksQuorum = "quorum"

	ordered   = "ordered"
	unordered = "unordered"

	noKey         = "NO_KEY"
	keyRoundRobin = "KEY_ROUND_ROBIN"
	randomNano    = "RANDOM_NANO"
	keyRandom     = "RANDOM"
	keyZipf       = "ZIPF"

	constant = "constant"
	poisson  = "poisson"
	steps    = "steps"
	ramp     = "ramp"
	bursts   = "bursts"

	exponential = "exponential"

	fresh  = "fresh"
	shared = "shared"
)

// Whether the clients' connections are encrypted, and which side has to present a certificate.
const (
	TLSOff    = "off"
	TLSOn     = "on"     // the broker presents one
	TLSMutual = "mutual" // the client, too
)

// How producers and consumers are distributed over agents.
const (
	PlaceTopic  = "topic"  // all clients of one topic on one agent
	PlaceSpread = "spread" // one after the other over all agents
)

// The kinds of measurement.
const (
	MeasureRate        = "rate"
	MeasurePeak        = "peak"
	MeasureSustainable = "sustainable"
	MeasureCurve       = "curve"
	MeasureCount       = "count"
	MeasureBacklog     = "backlog"
	MeasureRead        = "read"
)

// Where reading begins on a topic to which other programs publish.
const (
	ReadNow   = "now"   // with the next message
	ReadStart = "start" // with the oldest stored message
)

var measures = []string{MeasureRate, MeasurePeak, MeasureSustainable, MeasureCurve, MeasureCount, MeasureBacklog, MeasureRead}

// Measures of results imported from other tools; no document may ask for them.
const (
	MeasureImported           = "imported"
	MeasureImportedClosedLoop = "imported closed loop" // the file says so
)

// ClosedLoop reports whether s sends as fast as the client's window allows, or into a backlog, or sends nothing: no message is
// then due at a given time, and its latency only shows how full the window or the backlog was.
func (s Spec) ClosedLoop() bool {
	switch s.Measure {
	case MeasurePeak, MeasureRead, MeasureImportedClosedLoop:
		return true
	case MeasureBacklog:
		return !s.Tails() // the others get messages by a schedule while the backlog drains
	case MeasureCount:
		return s.Load.Rate == 0
	}
	return false
}

// usedBy lists the measures that use a setting or a whole group; settings that are not listed are used by all.
var usedBy = map[string][]string{
	"load":        {MeasureRate, MeasureCount, MeasureBacklog},
	"load.shape":  {MeasureRate, MeasureSustainable, MeasureCurve, MeasureCount, MeasureBacklog},
	"warmup":      {MeasureRate, MeasurePeak, MeasureCurve, MeasureRead},
	"duration":    {MeasureRate, MeasurePeak, MeasureCurve, MeasureBacklog, MeasureRead},
	"sustainable": {MeasureSustainable, MeasureCurve},
	"curve":       {MeasureCurve},
	"count":       {MeasureCount},
	"backlog":     {MeasureBacklog},
	"read":        {MeasureRead},
	"pipeline":    {MeasureRate, MeasureCount},
	"faults":      {MeasureRate, MeasurePeak, MeasureCount, MeasureBacklog},
}

// users lists the measures that use the setting at path; nil for all of them.
func users(path string) []string {
	if u, ok := usedBy[path]; ok {
		return u
	}
	return usedBy[groupOf(path)]
}

// serves reports whether a measure uses the setting at path.
func serves(path, measure string) bool {
	u := users(path)
	return u == nil || slices.Contains(u, measure)
}
