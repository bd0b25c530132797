package lab

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// repetition runs one repetition of one point and returns its record, whatever happens. started is false if there was no broker
// to measure.
func (l *lab) repetition(ctx context.Context, run study.Run) (r store.Record, started bool) {
	l.pool.makeRoom(run.Point.Spec, run.Repetition)
	r = Blank(run, l.machine, l.options.Tool)
	b := &bench{lab: l, record: &r, spec: run.Point.Spec, payloads: run.Point.Payloads, report: func(e Event) { l.watch(run, e) }}
	err := b.explainLoss(b.run(ctx)) // before close, which ends the process that may have been lost
	// Before close, too: it may take half a minute, and an interruption in that time takes nothing from what was measured.
	status, why := ending(ctx, err)
	b.close(err)
	started = !errors.As(err, new(errStart))
	if !started || brokerDied(err) {
		l.pool.close() // the broker has died or can't be reached
	}
	r.Status, r.Reason, r.Figures = status, why.Text, why.Figures
	r.Versions.TLS = b.broker.tls.String()
	r.Ended = time.Now().UTC()
	return r, started
}

// Blank returns the record of a repetition that begins now, with everything that is known of it before it has run. tool is the version
// of this program.
func Blank(run study.Run, host store.Host, tool string) store.Record {
	return store.Record{
		Schema: store.Schema, PointID: run.Point.ID, Study: run.Point.Study, Scale: run.Point.Scale, Label: run.Point.Label,
		Axes: run.Point.Axes, Repetition: run.Repetition, Seed: seedOf(run.Point.Spec.Seed, run.Repetition), Spec: run.Point.Spec, Host: host,
		Began: time.Now().UTC(), Versions: store.Versions{Tool: tool, Go: runtime.Version()},
	}
}

// ending returns how a repetition, or one rate of a curve, ended, and why. err is its error. Errors of servers and clients may quote
// what they were sent, so secrets are removed.
func ending(ctx context.Context, err error) (store.Status, remark.Remark) {
	status, why := classify(ctx, err)
	return status, remark.Stored(secret.Redact(why.Text), why.Figures)
}

// classify returns how a repetition ended, by its error and its context. The first case that fits counts, since it explains the later
// ones: an interrupted run, for example, also loses its broker. An error that no case knows is a failure.
func classify(ctx context.Context, err error) (store.Status, remark.Remark) {
	var (
		unsupported *driver.ErrUnsupported
		setting     *provision.ErrSetting
		judged      errJudged
	)
	switch {
	case ctx.Err() != nil:
		return store.Aborted, remark.Of("interrupted")
	case err == nil:
		return store.OK, remark.Remark{}
	case errors.As(err, new(*agent.ErrLost)), errors.Is(err, worker.ErrConsumerProcess): // parts of the generator
		return store.Aborted, remark.Of("%v", err)
	case errors.As(err, &unsupported): // without the errors around it: when it turned out doesn't matter
		return store.Refused, remark.Of("%v", unsupported)
	case errors.As(err, &setting):
		return store.Refused, remark.Of("%v", setting)
	case errors.As(err, new(*provision.ErrRefused)):
		return store.Refused, remark.Of("%v", err)
	case errors.As(err, &judged):
		return judged.status, remark.Of("%v", err)
	case errors.Is(err, worker.ErrLate), errors.As(err, new(*agent.ErrClock)):
		return store.Void, remark.Of("%v", err)
	}
	return store.Failed, remark.Of("%v", err)
}

// errJudged is the error of a repetition that was measured but does not stand.
type errJudged struct {
	status store.Status // store.Failed, or store.Void if the generator limited the numbers
	why    remark.Remark
	broken bool // the broker broke a promise
}

func (j errJudged) Error() string { return j.why.Text }

// Remark returns the reason with its figures: remark.Of asks for it where the error is part of another remark.
func (j errJudged) Remark() remark.Remark { return j.why }

// void returns the error that the generator or the machine limited the numbers.
func void(format string, args ...any) error {
	return errJudged{status: store.Void, why: remark.Of(format, args...)}
}

// failed returns the error that the broker did not do what was asked of it.
func failed(format string, args ...any) error {
	return errJudged{status: store.Failed, why: remark.Of(format, args...)}
}
