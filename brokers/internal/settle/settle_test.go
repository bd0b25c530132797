package settle_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/settle"
)

type call struct {
	slots []uint32
	err   error
}

type calls []call

func (c *calls) Done(slots []uint32, err error) { *c = append(*c, call{slices.Clone(slots), err}) }

func TestOutcomesOfOneKindAreReportedTogetherAndInOrder(t *testing.T) {
	lost, refused := errors.New("lost"), errors.New("refused")
	var got calls
	o := settle.NewOutcomes(&got, 8)
	o.Flush() // nothing: nobody is told
	for slot, err := range []error{nil, nil, lost, lost, refused, nil} {
		o.Add(uint32(slot), err)
	}
	o.Flush()
	want := calls{{[]uint32{0, 1}, nil}, {[]uint32{2, 3}, lost}, {[]uint32{4}, refused}, {[]uint32{5}, nil}}
	if !slices.EqualFunc(got, want, func(a, b call) bool { return slices.Equal(a.slots, b.slots) && errors.Is(a.err, b.err) }) {
		t.Errorf("reported %v, want %v", got, want)
	}
	if o.Reported() != 6 {
		t.Errorf("%d of 6 are counted", o.Reported())
	}
}

func TestWhatIsKnownIsReportedBeforeTheNextIsWaitedFor(t *testing.T) {
	waiting := make(chan int, 2)
	told := make(chan uint32, 2)
	o := settle.NewOutcomes(receipts(func(slots []uint32, _ error) { told <- slots[0] }), 2)
	waiting <- 1
	o.Add(7, nil)
	if n, open := settle.Next(o, waiting); n != 1 || !open || len(told) > 0 {
		t.Errorf("%d, %v, %d reports; want the next at once", n, open, len(told))
	}
	type taken struct {
		n    int
		open bool
	}
	took := make(chan taken)
	wait := func() {
		go func() {
			n, open := settle.Next(o, waiting)
			took <- taken{n, open}
		}()
	}
	wait()
	if slot := <-told; slot != 7 { // before there is a next one
		t.Errorf("slot %d was reported", slot)
	}
	waiting <- 2
	if got := <-took; got.n != 2 || !got.open {
		t.Errorf("%+v was taken, want the message that was waited for", got)
	}
	wait()
	close(waiting)
	if got := <-took; got.open {
		t.Error("a closed channel is still open")
	}
}

type receipts func(slots []uint32, err error)

func (r receipts) Done(slots []uint32, err error) { r(slots, err) }
