package agent

import (
	"context"

	"github.com/brokermark/brokermark/internal/provision"
)

// Meter is an agent on a broker's host that meters the broker's processes there.
type Meter interface {
	Facts() MeterFacts
	// Begin is called before a load, which is what At may be asked for. It finds out where the agent's clock is.
	Begin(ctx context.Context) error
	// Latest is what the processes had used a moment ago: by so much that the agent has told of it.
	Latest() Metered
	// At is what they had used at times on this process's clock, in order. It waits until the agent has told that much, and fails
	// where the agent is lost or one of the processes has ended.
	At(ctx context.Context, times ...int64) ([]Metered, error)
}

// MeterFacts say who meters what.
type MeterFacts struct {
	Name, Host string
	Processes  string   // as the agent names them
	Serves     []string // of the addresses that were asked for, those on which they listen
	Here       bool     // its machine is this one
	// Offset is what its clock was ahead of this process's before the load, ns, give or take Bound.
	Offset, Bound int64
}

// Metered is what processes had used by a moment.
type Metered struct {
	At            int64 // ns on the clock of who read it
	Used          provision.Usage
	Flushes, Gaps int64 // calls to flush files, -1: not counted; how often the kernel left some out
	PIDs          []int `json:",omitempty"`
	Gone          bool  `json:",omitempty"` // one has ended, and no other has come in its place
}

// Between is the usage at a time between two readings. CPU time, disk traffic and flushes grow evenly between them.
func Between(a, b Metered, at int64) Metered {
	m := b
	m.At = at
	if b.At <= a.At || at >= b.At {
		return m
	}
	share := max(0, float64(at-a.At)/float64(b.At-a.At))
	m.Used.User = a.Used.User + part(a.Used.User, b.Used.User, share)
	m.Used.System = a.Used.System + part(a.Used.System, b.Used.System, share)
	m.Used.DiskReadBytes = growth(a.Used.DiskReadBytes, b.Used.DiskReadBytes, share)
	m.Used.DiskWriteBytes = growth(a.Used.DiskWriteBytes, b.Used.DiskWriteBytes, share)
	m.Flushes = growth(a.Flushes, b.Flushes, share)
	return m
}

func part[T ~int64](a, b T, share float64) T { return T(float64(b-a) * share) }

// growth is between a and b, of which -1 is not known.
func growth(a, b int64, share float64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + part(a, b, share)
}
