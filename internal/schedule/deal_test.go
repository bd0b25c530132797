package schedule

import (
	"testing"

	"pgregory.net/rapid"
)

func TestClientsSendWhatTheirProducersWouldHaveSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "producers")
		clients := rapid.IntRange(1, n).Draw(t, "clients")
		total := rapid.Int64Range(0, 300).Draw(t, "arrivals")
		whole, err := Poisson(1000, uint64(rapid.IntRange(0, 3).Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		var rate float64
		var dealt int64
		for c := range clients {
			s := Sequential(Dealt(whole, c, clients, n))
			var mine []int // the client's producers, in the order of their turns
			for k := c; k < n; k += clients {
				mine = append(mine, k)
			}
			count := Deal(total, c, clients, n)
			dealt += count
			for i := range count {
				k := mine[int(i)%len(mine)]
				if got, want := s.At(i), Share(whole, k, n).At(i/int64(len(mine))); got != want {
					t.Fatalf("arrival %d of client %d is at %d, its producer %d sends at %d", i, c, got, k, want)
				}
			}
			if end := whole.At(total); s.Count(end) != count {
				t.Fatalf("client %d has %d arrivals of %d, its schedule counts %d", c, count, total, s.Count(end))
			}
			rate += s.Rate(0)
		}
		if dealt != total {
			t.Fatalf("%d of %d arrivals were dealt", dealt, total)
		}
		if rate < 999.999 || rate > 1000.001 {
			t.Fatalf("all clients together send %g/s of 1000/s", rate)
		}
	})
}
