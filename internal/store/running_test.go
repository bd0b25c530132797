package store

import (
	"slices"
	"testing"
	"time"
)

func running(t *testing.T, s *Store) Running {
	t.Helper()
	r, err := s.Running(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhoLooksAtAStoreSeesWhatIsUnderWay(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, url := p.store(t)
		seen, err := OpenReadOnly(url)
		if err != nil {
			t.Fatal(err)
		}
		defer seen.Close()
		if r := running(t, seen); r.Claims != nil || r.Pages != nil {
			t.Errorf("before anything ran: %+v", r)
		}
		const lease = 600 * time.Millisecond
		page := Page{URL: "http://127.0.0.1:8080/", Host: "here"}
		withdraw, err := s.Announce(t.Context(), page, lease)
		if err != nil {
			t.Fatal(err)
		}
		c := claims(t, s, false, time.Hour)
		c.finds(t, Claimed, 3, "at first")
		release := c.Keep("p", 3)
		time.Sleep(2 * lease) // renewed meanwhile
		if r := running(t, seen); !slices.Equal(r.Claims, []Claim{{"p", 3}}) || !slices.Equal(r.Pages, []Page{page}) {
			t.Errorf("while it runs: %+v", r)
		}
		withdraw()
		release()
		withdraw() // twice does no harm
		if r := running(t, seen); r.Claims != nil || r.Pages != nil {
			t.Errorf("afterwards: %+v", r)
		}
	})
}

func TestARunThatWasKilledIsUnderWayNoLongerThanItsLease(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		const lease = 300 * time.Millisecond
		for _, host := range []string{"here", "there", "here"} { // the last one again, at the same address
			if err := s.announce(t.Context(), Page{"http://127.0.0.1:1/", host}, lease); err != nil {
				t.Fatal(err)
			}
		}
		if r := running(t, s); len(r.Pages) != 2 {
			t.Errorf("two runs: %+v", r)
		}
		claims(t, s, false, lease).finds(t, Claimed, 1, "at first")
		time.Sleep(2 * lease)
		if r := running(t, s); r.Pages != nil || r.Claims != nil {
			t.Errorf("both were killed: %+v", r)
		}
		if err := s.announce(t.Context(), Page{"http://127.0.0.1:2/", "here"}, lease); err != nil {
			t.Fatal(err)
		}
		if n, err := column[int](t.Context(), s.db, `SELECT COUNT(*) FROM watched`); err != nil || n[0] != 1 {
			t.Errorf("%v addresses are kept, want the one that counts: %v", n, err)
		}
	})
}
