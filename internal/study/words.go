package study

import "slices"

// The words of a spec. Those of the guarantee are the driver contract's.
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

// Whether the clients' connections are encrypted, and who has to show a certificate.
const (
	TLSOff    = "off"
	TLSOn     = "on"     // the broker shows one
	TLSMutual = "mutual" // the client, too
)

// How producers and consumers are dealt to agents.
const (
	PlaceTopic  = "topic"  // everything of one topic on one agent
	PlaceSpread = "spread" // one after the other over all agents
)

// What a point can measure.
const (
	MeasureRate        = "rate"
	MeasurePeak        = "peak"
	MeasureSustainable = "sustainable"
	MeasureCurve       = "curve"
	MeasureCount       = "count"
	MeasureBacklog     = "backlog"
	MeasureRead        = "read"
)

// From where a topic is read to which others publish.
const (
	ReadNow   = "now"   // what comes from now on
	ReadStart = "start" // what is stored
)

var measures = []string{MeasureRate, MeasurePeak, MeasureSustainable, MeasureCurve, MeasureCount, MeasureBacklog, MeasureRead}

// What other tools measured has measures that no document may ask for.
const (
	MeasureImported           = "imported"
	MeasureImportedClosedLoop = "imported closed loop" // the file says so
)

// ClosedLoop tells that s sends as fast as the client's window allows, or into a backlog, or sends nothing: no message is due at any time,
// and its latency only says how full the window or the backlog was.
func (s Spec) ClosedLoop() bool {
	switch s.Measure {
	case MeasurePeak, MeasureRead, MeasureImportedClosedLoop:
		return true
	case MeasureBacklog:
		return !s.Tails() // which are sent to by a schedule while the backlog drains
	case MeasureCount:
		return s.Load.Rate == 0
	}
	return false
}

// usedBy says which measures use a setting or a whole group; what is not listed serves all.
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

// serves reports whether the setting at path means something to a measure.
func serves(path, measure string) bool {
	u := users(path)
	return u == nil || slices.Contains(u, measure)
}
