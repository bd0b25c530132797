package measure

import (
	"reflect"
	"testing"

	"github.com/brokermark/brokermark/internal/clock"
)

// The numbers in the doc comments are true.

func TestTheExampleOfConsumer(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Consumers: 1, Subscriptions: 1})
	trial.SetBase(0, 100)
	trial.MeasureFrom(0)
	p := trial.Producer(0)
	for seq := range uint64(50) {
		p.Sent(100+seq, size, 1, 1, 0)
	}
	p.Commit()
	c := trial.Consumer(0, 0, nil)
	for _, seq := range []int{99, 100, 100, 102, 101, 150} {
		c.Received(header(0, seq), 1000)
	}
	c.Commit()
	if b := trial.Books(Measured); b.Stale != 1 || b.Corrupted != 1 || b.Received != 3 || b.Duplicated != 1 || b.Reordered != 1 {
		t.Errorf("%+v", b)
	}
}

func TestTheExampleOfAccount(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Consumers: 1, Subscriptions: 1})
	send(trial, 10, 0, nil)
	c := trial.Consumer(0, 0, nil)
	for i, seq := range []int{0, 2, 1, 1} {
		c.Received(header(0, seq), int64(10*(i+1)))
	}
	c.Commit()
	want := []Account{{
		Seen: []byte{1<<kindBits | mixedRun, 0b111, 0, 0, 0, 0, 0, 0, 0}, Duplicated: Tally{0, 1}, Reordered: Tally{0, 1}, First: 10, Last: 40,
	}}
	if got := trial.Accounts(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTheExampleOfJoin(t *testing.T) {
	shape := Shape{Producers: 1, Consumers: 1, Subscriptions: 1}
	agents := []*Trial{NewTrial(shape), NewTrial(shape)}
	send(agents[0], 10, 0, nil)
	host := NewHost(clock.Line{})
	host.MeasureFrom(0)
	agents[1].SetHost(0, 0, host)
	var parts []Part
	for i, received := range [][]int{{0, 1, 2, 3, 4, 5}, {5, 6, 7, 8, 10}} {
		c := agents[i].Consumer(0, 0, nil)
		for _, seq := range received {
			c.Received(header(0, seq), 1000)
		}
		c.Commit()
		parts = append(parts, Part{Shard: agents[i].Shard()})
	}
	joined, err := Join(shape, 10, parts)
	if err != nil {
		t.Fatal(err)
	}
	if b := joined.Books(Measured); b.Sent != 10 || b.Received != 9 || b.Lost != 1 || b.Duplicated != 1 || b.Corrupted != 1 {
		t.Errorf("%+v", b)
	}
}

func TestTheExampleOfAPackedBitmap(t *testing.T) {
	var whole, gap bitmap
	for n := range uint64(1_000_000) {
		whole.add(n)
		if n != 5 {
			gap.add(n)
		}
	}
	if a, b := len(whole.pack()), len(gap.pack()); a != 3 || b != 1+8+3 {
		t.Errorf("%d and %d bytes", a, b)
	}
}
