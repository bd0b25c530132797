package agent

import (
	"context"

	"github.com/brokermark/brokermark/internal/provision"
)

// Meter is an agent on a broker's host that meters the broker's processes there: it reads again and again what they have used in
// total. What they used in a trial is the difference of two readings: 3 s of CPU time at its end less 2 s at its beginning is 1 s.
type Meter interface {
	Facts() MeterFacts
	// Begin relates the agent's clock to this process's. It must be called before each load: At depends on it.
	Begin(ctx context.Context) error
	// Latest returns the usage of a moment ago; how long that moment is, the agent's reports decide.
	Latest() Metered
	// At returns the usage at rising times on this process's clock. It waits until the agent has reported that much. It fails if the
	// agent is lost or if one of the processes has ended.
	At(ctx context.Context, times ...int64) ([]Metered, error)
}

// MeterFacts describes a Meter.
type MeterFacts struct {
	Name, Host string
	Processes  string   // as the agent names them
	Serves     []string // those of the broker's addresses on which these processes listen
	Here       bool     // the agent's machine is this one
	// Offset is by how much the agent's clock was ahead of this process's before the load, ns; exact to ±Bound.
	Offset, Bound int64
}

// Metered is what processes have used from their start to a time.
type Metered struct {
	At      int64 // ns on the clock of the process that read it
	Used    provision.Usage
	Flushes int64 // calls that flush files to disk (fsync and the like), or NotCounted
	Gaps    int64 // how often the kernel lost some of these calls
	PIDs    []int `json:",omitempty"`
	Gone    bool  `json:",omitempty"` // a process has ended, and none has taken its place
}

// NotCounted stands in Metered.Flushes, and in counts of provision.Disk, where the system doesn't count.
const NotCounted = -1

// Between estimates the usage at a time between two readings, as if CPU time, disk traffic and flushes had grown evenly. Everything else
// is that of the later reading. For example, 100 ms of CPU time at second 1 and 200 ms at second 2 make 125 ms at second 1.25. At a
// time before or after both readings, they are those of the nearer one. Flushes are not counted if the kernel lost some in between:
// they may have been before or after that time.
func Between(earlier, later Metered, at int64) Metered {
	m := later
	m.At = at
	if later.At <= earlier.At || at >= later.At {
		return m
	}
	share := max(0, float64(at-earlier.At)/float64(later.At-earlier.At))
	m.Used.User = interpolate(earlier.Used.User, later.Used.User, share)
	m.Used.System = interpolate(earlier.Used.System, later.Used.System, share)
	m.Used.DiskReadBytes = interpolateCounts(earlier.Used.DiskReadBytes, later.Used.DiskReadBytes, share)
	m.Used.DiskWriteBytes = interpolateCounts(earlier.Used.DiskWriteBytes, later.Used.DiskWriteBytes, share)
	m.Flushes = interpolateCounts(earlier.Flushes, later.Flushes, share)
	if earlier.Gaps != later.Gaps {
		m.Flushes = NotCounted
	}
	return m
}

// interpolate returns the value at a share, from 0 to 1, of the way from a to b.
func interpolate[T ~int64](a, b T, share float64) T { return a + T(float64(b-a)*share) }

// interpolateCounts is like interpolate, for two counts of which either may be NotCounted.
func interpolateCounts(a, b int64, share float64) int64 {
	if a < 0 || b < 0 {
		return NotCounted
	}
	return interpolate(a, b, share)
}
