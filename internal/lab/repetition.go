package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// repetition runs one repetition of one point; whatever happens it becomes a record. unstarted tells that there was no
// broker to measure.
func (l *lab) repetition(ctx context.Context, run study.Run) (_ store.Record, unstarted bool) {
	r := Blank(run, l.host, l.Tool)
	b := &bench{lab: l, record: &r, spec: run.Point.Spec, payloads: run.Point.Payloads, stage: func(e Event) { l.watch(run, e) }}
	err := b.whyLost(b.run(ctx))
	b.close()
	if startFailed(err) || b.died != nil {
		l.pool.drop(b.spec)
	}
	r.Status, r.Reason = verdict(ctx, b, err)
	r.Ended = time.Now().UTC()
	return r, startFailed(err)
}

// Blank is the record of a repetition that begins now.
func Blank(run study.Run, host store.Host, tool string) store.Record {
	return store.Record{
		Schema: store.Schema, PointID: run.Point.ID, Study: run.Point.Study, Label: run.Point.Label,
		Axes: run.Point.Axes, Repetition: run.Repetition, Spec: run.Point.Spec, Host: host,
		Began: time.Now().UTC(), Versions: store.Versions{Tool: tool, Go: goVersion()},
	}
}

// verdict turns how a repetition ended into a status and its reason. Servers and clients quote what they were given: no
// secret of it gets into a record.
func verdict(ctx context.Context, b *bench, err error) (store.Status, string) {
	status, reason := ending(ctx, b, err)
	return status, secret.Redact(reason)
}

func ending(ctx context.Context, b *bench, err error) (store.Status, string) {
	var unsupported *driver.ErrUnsupported
	var setting *provision.ErrSetting
	var refused *provision.ErrRefused
	switch {
	case ctx.Err() != nil:
		return store.Aborted, "interrupted"
	case errors.As(err, &unsupported): // whatever was being done when it turned out
		return store.Refused, unsupported.Error()
	case errors.As(err, &setting):
		return store.Refused, setting.Error()
	case errors.As(err, &refused):
		return store.Refused, err.Error()
	case b.died != nil:
		return store.Failed, "the broker died: " + b.died.String()
	case errors.Is(err, errVoid), errors.Is(err, worker.ErrLate):
		return store.Void, err.Error()
	case err != nil:
		return store.Failed, err.Error()
	}
	return store.OK, ""
}

// errVoid ends a repetition whose numbers the generator limited.
var errVoid = errors.New("void")

type voidError struct{ reason string }

func (v voidError) Error() string      { return v.reason }
func (voidError) Is(target error) bool { return target == errVoid }

func failed(format string, args ...any) error { return fmt.Errorf(format, args...) }
