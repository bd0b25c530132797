package measure

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/wire"
)

// throughJSON returns v as another process reads it.
func throughJSON[T any](t *testing.T, v T) (there T) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &there)
	}
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func TestConsumersApartCountWhatConsumersBesideTheProducersCount(t *testing.T) {
	const producers, consumers, subscriptions, n, measured = 3, 2, 2, 30_000, 11_111
	for name, keys := range map[string]KeyOf{"unkeyed": nil, "keyed": func(_ int, seq uint64) int { return int(seq % 7) }} {
		t.Run(name, func(t *testing.T) {
			shape := Shape{Producers: producers, Consumers: consumers * subscriptions, Subscriptions: subscriptions}
			if keys != nil {
				shape.Keys = 7
			}
			here, sender := NewTrial(shape), NewTrial(shape)
			shape.Apart = true
			away := NewTrial(shape)
			for _, trial := range []*Trial{here, sender, away} {
				trial.MeasureFrom(measured)
				for i := range producers {
					trial.SetBase(i, uint64(100*i))
				}
			}
			rng := rand.New(rand.NewPCG(3, 4))
			for _, trial := range []*Trial{here, sender} {
				for i := range producers {
					p := trial.Producer(i)
					var acks Acks
					for seq := range n {
						phase := p.Sent(uint64(100*i+seq), size, int64(seq), int64(seq)+1, 0)
						if seq%1000 == 7 {
							p.Failed(&acks, phase, uint64(100*i+seq))
						} else {
							p.Acked(&acks, phase, int64(seq), int64(seq)+1, int64(seq)+5)
						}
					}
					p.Commit()
					p.Confirm(&acks)
				}
			}
			remote := sender.RemoteConsumers()
			for sub := range subscriptions {
				for c := range consumers {
					i := sub*consumers + c
					recorders := []*Consumer{here.Consumer(i, sub, keys), away.Consumer(i, sub, keys)}
					for k := range n * producers * 3 / 5 { // each consumer gets some at random: lost, twice and out of order
						producer, seq := rng.IntN(producers), min(n-1, max(0, k*5/(3*producers)+rng.IntN(200)-100))
						h := wire.Header{ID: wire.MakeID(uint32(producer), uint64(100*producer+seq)), Intended: int64(seq), Sent: int64(seq) + 1, Timed: true}
						if k%5000 == 0 {
							h.ID = wire.MakeID(uint32(producer), uint64(100*producer-1)) // of the trial before
							if producer == 0 {
								h.ID = wire.MakeID(producers, 0) // of nobody
							}
						}
						for _, r := range recorders {
							r.Received(&h, int64(seq)+10_000)
							if k%777 == 0 {
								r.Corrupted(int64(seq))
							}
							if k%13 == 0 {
								r.Commit()
							}
						}
						if k%10_000 == 0 {
							remote.Book(throughJSON(t, away.Receipts(k%20_000 == 0)))
							if err := sender.Enter(throughJSON(t, away.Accounts())); err != nil {
								t.Fatal(err)
							}
						}
					}
					for _, r := range recorders {
						r.Commit()
					}
				}
			}
			remote.Book(throughJSON(t, away.Receipts(true)))
			if err := sender.Enter(throughJSON(t, away.Accounts())); err != nil {
				t.Fatal(err)
			}
			for phase := range phases {
				got, want := sender.Books(phase), here.Books(phase)
				if got != want {
					t.Errorf("phase %d: apart %+v, beside %+v", phase, got, want)
				}
				if want.Lost == 0 || want.Duplicated == 0 || want.Reordered == 0 || want.LostAcked == want.Lost {
					t.Errorf("phase %d shows too little: %+v", phase, want)
				}
				if got, want := sender.Histograms(phase), here.Histograms(phase); !reflect.DeepEqual(got, want) {
					t.Errorf("phase %d: apart %d latencies of %d to %d, beside %d of %d to %d", phase, got.EndToEnd.Count(), got.EndToEnd.Min(),
						got.EndToEnd.Max(), want.EndToEnd.Count(), want.EndToEnd.Min(), want.EndToEnd.Max())
				}
			}
			if got, want := sender.Streams(true), here.Streams(true); !reflect.DeepEqual(got, want) {
				t.Errorf("the ledgers differ: apart %d, beside %d", len(got), len(want))
			}
			if sender.Count() != here.Count() || sender.Missing() != here.Missing() {
				t.Errorf("apart %+v, %d missing; beside %+v, %d missing", sender.Count(), sender.Missing(), here.Count(), here.Missing())
			}
		})
	}
}

// Accounts are read while messages arrive.
func TestAnAccountOfALedgerThatIsBeingWrittenIsTaken(t *testing.T) {
	const streams = 3000
	shape := Shape{Producers: streams, Consumers: 1, Subscriptions: 1, Apart: true}
	away := NewTrial(shape)
	var receiving sync.WaitGroup
	var received atomic.Bool
	receiving.Go(func() {
		defer received.Store(true)
		c := away.Consumer(0, 0, nil)
		for i := range streams {
			c.Received(header(i, 0), int64(i))
			c.Commit()
		}
	})
	for !received.Load() {
		for _, a := range away.Accounts() {
			if _, err := away.ledgerOf(&a); err != nil {
				t.Errorf("%v: %d to %d", err, a.First, a.Last)
			}
		}
	}
	receiving.Wait()
}

func TestAPackedBitmapIsTheSameBitmap(t *testing.T) {
	testkit.NotShort(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 50 {
		var b bitmap
		for at := uint64(0); at < 1<<18; {
			n := uint64(rng.IntN(1 << rng.IntN(17)))
			if rng.IntN(2) == 0 {
				for i := range n {
					b.add(at + i)
				}
			}
			at += n
		}
		b.add(0)
		packed := b.pack()
		var again bitmap
		if err := again.unpack(packed, 1<<19); err != nil {
			t.Fatal(err)
		}
		if err := again.unpack(packed, 1<<19); err != nil || !bytes.Equal(again.pack(), packed) {
			t.Fatalf("round %d: %v, or other members", round, err)
		}
		for seq := uint64(0); seq < 1<<18; seq += 64 {
			if again.word(seq) != b.word(seq) {
				t.Fatalf("round %d: word at %d", round, seq)
			}
		}
	}
}

func TestAMillionMessagesInOrderTakeAFewBytes(t *testing.T) {
	var b bitmap
	for seq := uint64(0); seq < 1<<20; seq += 64 {
		b.addWord(seq, ^uint64(0))
	}
	if packed := b.pack(); len(packed) > 8 {
		t.Errorf("%d bytes", len(packed))
	}
}

func TestADamagedAccountIsRefused(t *testing.T) {
	for name, seen := range map[string][]byte{
		"the next one":   {1 << 2, 1<<2 | mixedRun, 0, 0, 0, 0, 1 << 4, 0, 0, 0}, // number 100
		"cut":            {1<<2 | mixedRun, 1, 2, 3},
		"no length":      {fullRun},
		"unknown kind":   {1<<2 | 3},
		"not a number":   {0xff},
		"never sent":     {2 << 2, 1<<2 | fullRun},
		"without an end": {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
	} {
		trial := NewTrial(Shape{Producers: 1, Subscriptions: 1})
		p := trial.Producer(0)
		for seq := range uint64(100) { // two words
			p.Sent(seq, size, 0, 0, 0)
		}
		p.Commit()
		if err := trial.Enter([]Account{{Seen: seen}}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	trial := NewTrial(Shape{Producers: 1, Subscriptions: 1})
	for _, a := range []Account{{Producer: 1}, {Producer: -1}, {Subscription: 1}, {Subscription: -1}} {
		if err := trial.Enter([]Account{a}); err == nil {
			t.Errorf("%+v: taken", a)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{2<<2 | fullRun, 1<<2 | mixedRun, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, packed []byte) {
		const most = 1 << 18
		var b, again bitmap
		if b.unpack(packed, most) != nil || b.pages.Load() == nil {
			return
		}
		if err := again.unpack(b.pack(), most); err != nil || again.count(0, most) != b.count(0, most) {
			t.Error("what was packed again differs", err)
		}
	})
}
