package lab

import (
	"errors"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// judge decides whether the only load of a repetition, or one rate of a curve, stands: whether its figures say something about the broker. It
// returns nil if so, or else an error that says how the repetition ends. The rules are those of a search (search.Rule.Judge), but for what
// the load has to be kept up with. They look at the measured phase alone, as reports do: lesser deviations, and what went wrong in the
// warm-up, become doubts (doubtsAbout). rate is the offered rate, messages per second; 0 in a closed loop.
func (b *bench) judge(t trial, rate float64) error {
	if endsUnjudged(t.Err) {
		return t.Err
	}
	passRule, evidence := rule(b.spec), b.evidence(t, rate)
	passRule.Sustained, passRule.Guarantee.Failover = false, b.record.Failover
	evidence.Books = t.Measured
	return b.ended(t, passRule.Judge(evidence, search.Goal{LossRatio: mostLost}))
}

// ended returns the error by which a repetition ends that was judged so; nil if it passed.
func (b *bench) ended(t trial, j search.Judgement) error {
	if j.Verdict == search.Pass {
		return nil
	}
	// What the broker says itself, and what the spec sets, no other process has caused.
	if limits := b.bottleneckOf(t).limits(); j.Verdict == search.Fail && !j.Broken && limits.Are(limitBroker, limitProducerDelay, limitConsumerDelay) {
		j.Reason = remark.Of("%s; %s", j.Reason, limits[0].Seen)
	} else {
		j = t.voidIfDisturbed(j, float64(b.lab.machine.Cores))
	}
	switch {
	case j.Verdict == search.Fail:
		return errJudged{status: store.Failed, why: j.Reason, broken: j.Broken}
	case j.Generator.Text != "":
		return void("%s%s%s", j.Reason, t.longestPause(t.latest().pauses), b.whyNoMore())
	}
	return void("%s", j.Reason)
}

// endsUnjudged reports whether a trial ended with an error that has a status of its own, whatever was measured until then.
func endsUnjudged(err error) bool {
	return errors.As(err, new(errDied)) || errors.As(err, new(*agent.ErrLost)) || errors.As(err, new(*agent.ErrClock)) ||
		errors.As(err, new(*driver.ErrUnsupported)) || errors.Is(err, worker.ErrConsumerProcess) || errors.Is(err, worker.ErrLate)
}

// brokeOff reports whether a trial ended before its time. A backlog that ran dry did not: every message that could arrive had
// arrived.
func brokeOff(t trial) bool { return t.Err != nil && !errors.Is(t.Err, worker.ErrRanDry) }
