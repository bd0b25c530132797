package resend_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// A broker that takes longer than the driver waits would be given the same message again and again, and take longer still.
func TestWhatIsNotAnsweredIsSentAgainLaterEachTime(t *testing.T) {
	for _, ordering := range []driver.Ordering{driver.Unordered, driver.Ordered} {
		synctest.Test(t, func(t *testing.T) {
			p, l, f := startWith(t, driver.Guarantee{Delivery: driver.AtLeastOnce, Ordering: ordering})
			send(t, p, batch(0, 1))
			for range 60_000 {
				l.complete(1, driver.ErrUnanswered)
				time.Sleep(time.Millisecond)
			}
			if n, resent := f.count(); n != 0 || resent < 5 || resent > 20 {
				t.Errorf("in a minute %d had an outcome and %d were sent again; want 5 to 20", n, resent)
			}
			_ = p.Close()
		})
	}
}

func TestALostConnectionIsNoReasonToWaitLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, l, f := start(t, driver.AtLeastOnce)
		send(t, p, batch(0, 1))
		for range 10_000 {
			l.complete(1, errLost)
			time.Sleep(time.Millisecond)
		}
		if _, resent := f.count(); resent < 150 {
			t.Errorf("sent again %d times in 10 s", resent)
		}
		_ = p.Close()
	})
}

func TestAnAcknowledgementThatComesLateCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, l, f := start(t, driver.AtLeastOnce)
		lates := l.receipts.(driver.Lates)
		yes, no := func() bool { return true }, func() bool { return false }
		send(t, p, batch(0, 3))
		if lates.Late(0, yes) {
			t.Error("it took back what is in flight")
		}
		for range 5 { // until the pause is long
			l.complete(3, driver.ErrUnanswered)
			time.Sleep(2 * time.Second)
		}
		l.complete(3, driver.ErrUnanswered)
		time.Sleep(10 * time.Millisecond)
		_, before := f.count()
		if lates.Late(0, no) || !lates.Late(0, yes) || !lates.Late(1, yes) || lates.Late(1, yes) {
			t.Error("each is taken back once, if it is the same message")
		}
		f.require(t, 0, nil)
		f.require(t, 1, nil)
		time.Sleep(200 * time.Millisecond) // the broker answers: the pause is over
		if _, resent := f.count(); resent != before+1 {
			t.Errorf("%d were sent again; want the one that was not confirmed", resent-before)
		}
		l.complete(1, driver.ErrUnanswered)
		time.Sleep(10 * time.Millisecond)
		if !lates.Late(2, yes) {
			t.Error("the last one wasn't taken back")
		}
		time.Sleep(time.Second)
		sent := len(l.payloads())
		send(t, p, batch(3, 1)) // nothing is in its way
		if len(l.payloads()) != sent+1 {
			t.Error("the next message waits")
		}
		_ = p.Close()
	})
}
