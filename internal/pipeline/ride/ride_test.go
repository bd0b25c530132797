package ride

import (
	"errors"
	"strings"
	"testing"
)

func TestBodiesAreRefusedWithTheFieldNamed(t *testing.T) {
	for _, c := range []struct{ body, field, says string }{
		{``, "body", "is empty"},
		{`{`, "body", "ends too early"},
		{`{"time":1,"liftID":`, "body", "ends too early"},
		{`nonsense`, "body", "is not JSON from byte"},
		{`[1,2]`, "body", "JSON array"},
		{`null`, "time", "is missing"},
		{`{}`, "time", "is missing"},
		{`{"time":1}`, "liftID", "is missing"},
		{`{"time":null,"liftID":1}`, "time", "is missing"},
		{`{"time":"217","liftID":21}`, "time", "is a string"},
		{`{"time":1.5,"liftID":21}`, "time", "whole number"},
		{`{"time":1e99,"liftID":21}`, "time", "whole number"},
		{`{"time":1,"liftID":21,"speed":3}`, "speed", "known: time, liftID"},
		{`{"time":1,"liftID":21}{}`, "body", "follows"},
		{`{"time":1,"liftID":21} x`, "body", "follows"},
	} {
		var r Ride
		err := r.ParseBody([]byte(c.body))
		var invalid *ErrInvalid
		if !errors.As(err, &invalid) || invalid.Field != c.field || !strings.Contains(invalid.Reason, c.says) {
			t.Errorf("%s: %v; want field %s and %q", c.body, err, c.field, c.says)
		}
	}
	var r Ride
	if err := r.ParseBody([]byte(" {\"liftID\":21,\n\"time\":217} ")); err != nil || r.Time != 217 || r.Lift != 21 {
		t.Errorf("a valid body: %v, %+v", err, r)
	}
}

func valid() Ride {
	return Ride{ID: KeyID("a"), Resort: 3, Season: 2024, Day: 7, Skier: 98486, Time: 348, Lift: 12, At: 99}
}

func TestEachFieldHasItsRange(t *testing.T) {
	for field, spoil := range map[string]func(*Ride, int){
		"resortID": func(r *Ride, n int) { r.Resort = n }, "seasonID": func(r *Ride, n int) { r.Season = n },
		"dayID": func(r *Ride, n int) { r.Day = n }, "skierID": func(r *Ride, n int) { r.Skier = n },
		"time": func(r *Ride, n int) { r.Time = n }, "liftID": func(r *Ride, n int) { r.Lift = n },
	} {
		for _, n := range []int{-1, 0, 100_001} {
			r := valid()
			spoil(&r, n)
			if err := r.Check(); err == nil || !strings.HasPrefix(err.Error(), field+": ") {
				t.Errorf("%s %d: %v", field, n, err)
			}
		}
	}
	r := valid()
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestAMessageReadsBackAsItWasWritten(t *testing.T) {
	for _, at := range []int64{0, 12345678901234} {
		r := valid()
		r.At = at
		got, err := Parse(r.Message())
		if err != nil || got != r {
			t.Errorf("%s: %+v, %v", r.Message(), got, err)
		}
	}
}

func TestAMessageHasOneIDOf32Digits(t *testing.T) {
	const rest = `"resortID":3,"seasonID":2024,"dayID":7,"skierID":1,"time":1,"liftID":1}`
	for _, id := range []string{``, `"id":null,`, `"id":"",`, `"id":"00",`, `"id":7,`, `"id":"` + strings.Repeat("x", 32) + `",`, `"id":"` + strings.Repeat("a", 34) + `",`} {
		if r, err := Parse([]byte("{" + id + rest)); err == nil {
			t.Errorf("%s is the ID %s", id, r.ID)
		}
	}
	if _, err := Parse([]byte(`{"id":"` + strings.Repeat("a", 32) + `",` + rest)); err != nil {
		t.Error(err)
	}
}

func FuzzAMessageThatIsNoRideIsAnError(f *testing.F) {
	r := valid()
	f.Add(r.Message())
	f.Add([]byte(`{"id":"00","resortID":1}`))
	f.Add([]byte("\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err == nil && r.Check() != nil {
			t.Errorf("%q passes as %+v", b, r)
		}
	})
}

func TestNumbersInPathsHaveOneSpelling(t *testing.T) {
	for _, text := range []string{"", "+1", "01", "1.0", " 1", "1e3", "..", "%31", "99999999999999999999"} {
		if n, err := Number("dayID", text); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
	if n, err := Number("dayID", "366"); n != 366 || err != nil {
		t.Error(n, err)
	}
}

func TestAKeyAlwaysNamesTheSameRide(t *testing.T) {
	for _, key := range []string{"a", "b"} {
		if once, again := KeyID(key), KeyID(key); once != again {
			t.Errorf("%s is %v and %v", key, once, again)
		}
	}
	if KeyID("a") == KeyID("b") {
		t.Error("two keys name one ride")
	}
	if one, other := NewID(), NewID(); one == other {
		t.Error("two rides have one identity")
	}
}
