package store

import (
	"testing"
	"time"
)

func claims(t *testing.T, s *Store, again bool, lease time.Duration) *Claims {
	t.Helper()
	c, err := s.Claims(t.Context(), again, lease)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Claims) finds(t *testing.T, want Standing, repetition int, when string) {
	t.Helper()
	got, err := c.Claim(t.Context(), "p", repetition)
	if err != nil || got != want {
		t.Errorf("%s: a claim of repetition %d finds %q, %v; want %q", when, repetition, got, err, want)
	}
}

func TestARepetitionIsClaimedByOneRunnerAtATime(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, url := p.store(t)
		other, err := Open(url)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		a, b := claims(t, s, false, time.Hour), claims(t, other, false, time.Hour)
		a.finds(t, Claimed, 1, "at first")
		a.finds(t, Claimed, 1, "by its holder")
		b.finds(t, Held, 1, "held by a")
		b.finds(t, Claimed, 2, "another one")
		release := a.Keep("p", 1)
		mustAppend(t, s, Record{PointID: "p", Repetition: 1, Status: OK})
		b.finds(t, Held, 1, "stored and not yet released")
		release()
		b.finds(t, Done, 1, "stored and released")
		release() // twice does no harm
		b.Keep("p", 2)()
		a.finds(t, Claimed, 2, "given up without a record")
	})
}

func TestWhatAnotherRunnerTriedMeanwhileIsNotTriedAgain(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		for i, status := range []Status{Failed, Void, Aborted, OK, Refused} {
			mustAppend(t, s, Record{PointID: "p", Repetition: i + 1, Status: status})
		}
		runner, again := claims(t, s, false, time.Hour), claims(t, s, true, time.Hour)
		for i, want := range []Standing{Claimed, Claimed, Claimed, Done, Done} {
			runner.finds(t, want, i+1, "stored before")
			runner.Keep("p", i+1)()
			again.finds(t, Claimed, i+1, "stored before, with --again")
			again.Keep("p", i+1)()
		}
		for i, status := range []Status{Failed, Void, Aborted, OK, Refused} {
			mustAppend(t, s, Record{PointID: "p", Repetition: i + 1, Status: status})
		}
		for i, want := range []Standing{Done, Done, Claimed, Done, Done} {
			runner.finds(t, want, i+1, "stored since")
			runner.Keep("p", i+1)()
			again.finds(t, want, i+1, "stored since, with --again")
			again.Keep("p", i+1)()
		}
	})
}

func TestAClaimThatIsNotRenewedEndsWithItsLease(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		const lease = 600 * time.Millisecond
		dead, alive, b := claims(t, s, false, lease), claims(t, s, false, lease), claims(t, s, false, lease)
		dead.finds(t, Claimed, 1, "at first")
		alive.finds(t, Claimed, 2, "at first")
		release := alive.Keep("p", 2)
		b.finds(t, Held, 1, "within the lease")
		time.Sleep(2 * lease)
		b.finds(t, Claimed, 1, "after the lease")
		b.finds(t, Held, 2, "renewed")
		dead.finds(t, Held, 1, "by its first holder")
		dead.Keep("p", 1)() // which must not end the claim of another
		dead.finds(t, Held, 1, "by its first holder, after it let go")
		release()
		b.finds(t, Claimed, 2, "released")
	})
}
