package lab

import (
	"context"
	"errors"
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
	status, why := verdict(ctx, b, err)
	r.Status, r.Reason, r.Figures = status, why.Text, why.Figures
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
func verdict(ctx context.Context, b *bench, err error) (store.Status, remark.Remark) {
	status, why := ending(ctx, b, err)
	return status, remark.Stored(secret.Redact(why.Text), why.Figures)
}

func ending(ctx context.Context, b *bench, err error) (store.Status, remark.Remark) {
	var unsupported *driver.ErrUnsupported
	var setting *provision.ErrSetting
	var refused *provision.ErrRefused
	var judged judgement
	switch {
	case err == nil && ctx.Err() == nil && b.died == nil:
		return store.OK, remark.Remark{}
	case ctx.Err() != nil:
		return store.Aborted, remark.Of("interrupted")
	case errors.As(err, new(*agent.ErrLost)):
		return store.Aborted, remark.Of("%v", err)
	case errors.As(err, &unsupported): // whatever was being done when it turned out
		return store.Refused, remark.Of("%v", unsupported)
	case errors.As(err, &setting):
		return store.Refused, remark.Of("%v", setting)
	case errors.As(err, &refused):
		return store.Refused, remark.Of("%v", err)
	case b.died != nil:
		return store.Failed, remark.Of("the broker died: %v", b.died)
	case errors.As(err, &judged) && judged.status == store.Void, errors.Is(err, worker.ErrLate), errors.As(err, new(*agent.ErrClock)):
		return store.Void, remark.Of("%v", err)
	}
	return store.Failed, remark.Of("%v", err)
}

// judgement ends a repetition that ran but does not stand.
type judgement struct {
	status store.Status // Failed, or Void where the generator limited the numbers
	why    remark.Remark
}

func (j judgement) Error() string         { return j.why.Text }
func (j judgement) Remark() remark.Remark { return j.why }

func void(format string, args ...any) error {
	return judgement{store.Void, remark.Of(format, args...)}
}

func failed(format string, args ...any) error {
	return judgement{store.Failed, remark.Of(format, args...)}
}
