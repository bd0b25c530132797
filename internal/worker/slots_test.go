package worker

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// never is for waits without an end.
var never = make(chan struct{})

func TestASlotIsHeldByOneMessageAtATime(t *testing.T) {
	for _, c := range []struct{ slots, batch, completers int }{{1, 1, 1}, {3, 2, 2}, {64, 16, 4}, {1000, 512, 8}} {
		const messages = 200_000
		s := newSlotRing(c.slots)
		held := make([]sync.Mutex, c.slots) // TryLock tells who holds a slot
		handed := make(chan []uint32, c.slots)
		var completing sync.WaitGroup
		for i := range c.completers {
			completing.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				var mine []uint32 // put back together, and in another order, as clients do
				give := func() {
					rng.Shuffle(len(mine), func(a, b int) { mine[a], mine[b] = mine[b], mine[a] })
					for _, id := range mine {
						held[id].Unlock()
					}
					s.put(mine)
					mine = mine[:0]
				}
				for ids := range handed {
					mine = append(mine, ids...)
					if len(handed) == 0 || rng.IntN(3) == 0 {
						give()
					}
				}
				give()
			})
		}
		into := make([]uint32, c.batch)
		for sent := 0; sent < messages; {
			n := s.take(into)
			if n == 0 {
				if !s.wait(min(c.batch, max(1, c.slots/8)), never) {
					t.Fatal("wait gave up although nobody had stopped it")
				}
				continue
			}
			for _, id := range into[:n] {
				if !held[id].TryLock() {
					t.Fatalf("slot %d was handed out twice", id)
				}
			}
			handed <- slices.Clone(into[:n])
			sent += n
		}
		close(handed)
		completing.Wait()
		if left := s.inFlight(); len(left) > 0 {
			t.Errorf("%d slots are still in flight: %v", len(left), left)
		}
		if n := s.take(make([]uint32, 2*c.slots)); n != c.slots {
			t.Errorf("%d of %d slots are free in the end", n, c.slots)
		}
	}
}

func TestAWaitEndsWithTheLastSlotItAskedFor(t *testing.T) {
	s := newSlotRing(16)
	ids := make([]uint32, 16)
	s.take(ids)
	woken := make(chan bool, 1)
	go func() { woken <- s.wait(4, never) }()
	for i := range 3 {
		s.put(ids[i : i+1])
	}
	for range 100 {
		runtime.Gosched()
	}
	select {
	case <-woken:
		t.Fatal("woken by 3 slots of 4")
	default:
	}
	s.put(ids[3:4])
	if !<-woken {
		t.Error("told to stop")
	}
	if got := s.inFlight(); !slices.Equal(got, ids[4:]) {
		t.Errorf("in flight are %v, want %v", got, ids[4:])
	}
	if n := s.take(make([]uint32, 16)); n != 4 {
		t.Errorf("%d slots are free, want 4", n)
	}
}

func TestAStoppedWaitLeavesNoWakeUpBehind(t *testing.T) {
	s := newSlotRing(8)
	ids := make([]uint32, 8)
	for range 20_000 {
		if n := s.take(ids); n != 8 {
			t.Fatalf("%d of 8 slots are free", n)
		}
		stop := make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() { s.put(ids[:4]); s.put(ids[4:]) })
		both.Go(func() { close(stop) })
		s.wait(8, stop) // either way
		both.Wait()
		if len(s.wake) > 0 || s.waiting.Load() != 0 {
			t.Fatal("a wake-up is left over: the next wait would end for nothing")
		}
	}
}

func TestAWaitThatIsStoppedSaysSo(t *testing.T) {
	s := newSlotRing(2)
	s.take(make([]uint32, 2))
	stop := make(chan struct{})
	time.AfterFunc(time.Millisecond, func() { close(stop) })
	if s.wait(1, stop) {
		t.Error("wait saw a slot where none was freed")
	}
}
