package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Tally counts how the repetitions of a run ended.
type Tally struct {
	OK, Failed, Void, Refused, Aborted, Skipped int
	Spared                                      int // not needed any more
	Unstarted                                   int // of Failed: the broker could not be installed, started or reached
	Lost                                        int // of Aborted: an agent or the consumers' process was lost
}

// Add counts the repetitions of another run as well.
func (t *Tally) Add(o Tally) {
	t.OK, t.Failed, t.Void, t.Refused = t.OK+o.OK, t.Failed+o.Failed, t.Void+o.Void, t.Refused+o.Refused
	t.Aborted, t.Skipped, t.Spared = t.Aborted+o.Aborted, t.Skipped+o.Skipped, t.Spared+o.Spared
	t.Unstarted, t.Lost = t.Unstarted+o.Unstarted, t.Lost+o.Lost
}

// count counts a repetition that was run. started is false if its broker could not be started; interrupted is true if the user
// ended the run.
func (t *Tally) count(status store.Status, started, interrupted bool) {
	switch status {
	case store.OK:
		t.OK++
	case store.Failed:
		t.Failed++
		if !started {
			t.Unstarted++
		}
	case store.Void:
		t.Void++
	case store.Refused:
		t.Refused++
	case store.Aborted:
		t.Aborted++
		if !interrupted {
			t.Lost++
		}
	}
}

// pace corrects estimates of how long repetitions take by how long earlier ones took. For example, if repetitions with an estimate of
// 100 s took 120 s, those with an estimate of 50 s that are left will take 60 s. All values are seconds.
type pace struct {
	estimated, took float64 // for the repetitions that were run
	rest            float64 // estimated for those that are still to do
}

// ran adds a repetition that was run.
func (p *pace) ran(run study.Run, took time.Duration) {
	p.estimated += study.EstimateSeconds(run.Point.Spec)
	p.took += took.Seconds()
}

// left estimates how long the repetitions that are still to do will take.
func (p *pace) left() time.Duration {
	rest := max(0, p.rest)
	if p.estimated > 0 {
		rest *= p.took / p.estimated
	}
	return time.Duration(rest * float64(time.Second))
}
