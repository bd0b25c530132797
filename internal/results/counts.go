package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// scheduleMetrics say which load the schedule asked for.
var scheduleMetrics = []Metric{
	{Key: KeyOfferedRate, Name: "offered", Unit: unit.PerSecond, Better: Neither, Doc: "null without a schedule", measured: offeredRate},
	counted(KeyDue, "due", Neither, func(b store.Books) int64 { return b.Due }).documented("by the schedule: sent + unsent"),
	counted(KeyUnsent, "never sent", Lower, func(b store.Books) int64 { return b.Unsent }).headed("never\nsent").documented("due, and never handed to the client"),
}

// countMetrics say what became of the messages.
var countMetrics = []Metric{
	counted(KeySent, "sent", Neither, func(b store.Books) int64 { return b.Sent }),
	counted(KeyAcked, "acked", Neither, func(b store.Books) int64 { return b.Acked }),
	counted(KeyFailed, "failed", Lower, func(b store.Books) int64 { return b.Failed }).documented("reported as failed by the client"),
	counted(KeyUnresolved, "unresolved", Lower, func(b store.Books) int64 { return b.Unresolved }).headed("unres.").documented("neither confirmed nor failed when the run ended"),
	counted(KeyResent, "resent", Lower, func(b store.Books) int64 { return b.Resent }),
	counted(KeyReceived, "received", Neither, func(b store.Books) int64 { return b.Received }),
	counted(KeyLost, "lost", Lower, func(b store.Books) int64 { return b.Lost }),
	counted(KeyLostAcked, "lost after ack", Lower, func(b store.Books) int64 { return b.LostAcked }).headed("lost\nafter ack").documented("confirmed by the broker and yet lost"),
	counted(KeyDropped, "dropped by the client", Lower, func(b store.Books) int64 { return b.Dropped }).headed("dropped by\nthe client").documented("in the generator's process; what never came is in lost, too"),
	counted(KeyDuplicated, "duplicated", Lower, func(b store.Books) int64 { return b.Duplicated }).headed("dup."),
	counted(KeyReordered, "reordered", Lower, func(b store.Books) int64 { return b.Reordered }).headed("reord."),
	counted(KeyCorrupted, "corrupted", Lower, func(b store.Books) int64 { return b.Corrupted }).headed("corr."),
}

// counted is a metric that counts messages, so that it is summed over repetitions.
func counted(key, name string, better Better, count func(store.Books) int64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.Count, Better: better,
		count: func(b store.Books) float64 { return float64(count(b)) },
	}
}

// offeredRate is not known if there was no schedule: a closed loop offers what the broker takes.
func offeredRate(r store.Record) float64 {
	if r.Result.OfferedRate <= 0 {
		return math.NaN()
	}
	return r.Result.OfferedRate
}
