package ride

import (
	"bytes"
	"encoding/json"
	"testing"
)

// scanned bodies must mean what encoding/json makes of them.
func FuzzABodyMeansWhatJSONSaysItDoes(f *testing.F) {
	for _, text := range []string{
		`{"time":217,"liftID":21}`, ` { "liftID" : 21 , "time" : 0 } `, `{"time":01,"liftID":2}`, `{"time":1.0,"liftID":2}`, `{"time":1e2,"liftID":2}`,
		`{"time":-1,"liftID":2}`, `{"time":1,"time":2}`, `{"time":1,"liftID":2,"time":3}`, `{"TIME":1,"liftID":2}`, `{"time":1,"liftID":2}x`,
		`{"time":9223372036854775808,"liftID":2}`, `{"time":999999999999999999,"liftID":2}`, `{"time":1"liftID":2}`, `{"time":1,,"liftID":2}`, `{}`, "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var r Ride
		if !r.scanBody(text) {
			return
		}
		var b body
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&b); err != nil || b.Time == nil || b.Lift == nil || *b.Time != r.Time || *b.Lift != r.Lift || d.More() {
			t.Errorf("%q: scanned as %d and %d; encoding/json: %+v, %v", text, r.Time, r.Lift, b, err)
		}
	})
}

// scanned messages must mean what encoding/json makes of them.
func FuzzAMessageMeansWhatJSONSaysItDoes(f *testing.F) {
	r := valid()
	f.Add(r.Append(nil))
	r.At = 0
	f.Add(r.Append(nil))
	f.Add([]byte(`{"id":"00000000000000000000000000000000","resortID":01,"seasonID":2024,"dayID":1,"skierID":1,"time":1,"liftID":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r Ride
		if !r.scanMessage(text) {
			return
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%q is scanned; encoding/json: %v", text, err)
		}
		if m.Resort != r.Resort || m.Season != r.Season || m.Day != r.Day || m.Skier != r.Skier || m.Time != r.Time || m.Lift != r.Lift || m.At != r.At {
			t.Errorf("%q: scanned as %+v; encoding/json: %+v", text, r, m)
		}
	})
}

// What clients and servers of ours write must never take the slow way.
func TestRidesAsTheyAreUsuallyWrittenAreScanned(t *testing.T) {
	var r Ride
	for _, text := range []string{`{"time":217,"liftID":21}`, `{"liftID": 21, "time": 217}`, " {\"time\": 217,\n \"liftID\": 21}\n"} {
		if r = (Ride{}); !r.scanBody([]byte(text)) || r.Time != 217 || r.Lift != 21 {
			t.Errorf("%s: %+v", text, r)
		}
	}
	for _, at := range []int64{0, 1 << 50} {
		want := valid()
		want.At = at
		var got Ride
		if text := want.Append(nil); !got.scanMessage(text) || got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	written := valid()
	b, m := []byte(`{"time":217,"liftID":21}`), written.Append(nil)
	if n := testing.AllocsPerRun(100, func() { _ = r.ParseBody(b); _, _ = Parse(m) }); n > 0 {
		t.Errorf("%v allocations to read a body and a message", n)
	}
}
