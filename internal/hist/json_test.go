package hist

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestUnmarshalRefusesWhatNoHistogramWrites(t *testing.T) {
	for in, want := range map[string]string{
		`{"n":`:                                                      "unexpected end",
		`7`:                                                          "cannot unmarshal number",
		`{"n":1,"min":5,"max":5,"b":"!"}`:                            "illegal base64",
		`{"n":1}`:                                                    "contradict",
		`{"n":0,"b":"BgE="}`:                                         "contradict",
		`{"n":2,"min":5,"max":5,"b":"BgE="}`:                         "n 2, min 5, max 5 contradict the buckets, which allow n 1",
		`{"n":1,"min":4,"max":5,"b":"BgE="}`:                         "contradict",
		`{"n":1,"min":5,"max":6,"b":"BgE="}`:                         "contradict",
		`{"n":1,"min":5,"max":5,"b":"Bg=="}`:                         "cut short",
		`{"n":1,"min":5,"max":5,"b":"gA=="}`:                         "cut short",
		`{"n":1,"min":5,"max":5,"b":"hgAB"}`:                         "more bytes than it needs",
		`{"n":0,"min":5,"max":5,"b":"BgA="}`:                         "count 0",
		`{"n":1,"min":5,"max":5,"b":"AAE="}`:                         "step 0 after bucket -1, allowed 1 to 8961",
		`{"n":1,"min":5,"max":5,"b":"gkYB"}`:                         "step 8962",
		`{"n":1,"min":5,"max":5,"b":"////////////AQE="}`:             "step 18446744073709551615",
		`{"n":1,"min":5,"max":5,"b":"Bv///////////wE="}`:             "count 18446744073709551615",
		`{"n":1,"min":5,"max":6,"b":"Bv//////////fwH//////////38="}`: "count 9223372036854775807 after 9223372036854775807",
	} {
		s := of(3)
		err := json.Unmarshal([]byte(in), &s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", in, err, want)
		}
		if !equal(s, of(3)) {
			t.Errorf("%s: the target was changed", in)
		}
	}
}

func TestJSONIsTheSameEverywhere(t *testing.T) {
	for want, s := range map[string]Snapshot{
		`{"n":0}`:                                   {},
		`{"n":1,"min":5,"max":5,"b":"BgE="}`:        of(5),
		`{"n":3,"min":5,"max":1000,"b":"BgLvBQE="}`: of(5, 1000, 5),
	} {
		got, err := json.Marshal(s)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
}

func TestJSONBringsEverythingBack(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		want := struct {
			A, B Snapshot
			C    Snapshot `json:",omitzero"`
		}{A: of(rapid.SliceOf(nanoseconds).Draw(t, "values")...)}
		got := want
		got.A = Snapshot{}
		data, err := json.Marshal(want)
		if err == nil {
			err = json.Unmarshal(data, &got)
		}
		if err != nil || !reflect.DeepEqual(got.B, want.B) || !equal(got.A, want.A) {
			t.Fatalf("%s: %+v, %v; want %+v", data, got, err, want)
		}
		if strings.Contains(string(data), `"C"`) {
			t.Fatalf("omitzero kept an empty histogram: %s", data)
		}
	})
}

// The short way is taken by what is written, and reads no text otherwise than package json does.
func TestWhatIsWrittenIsReadAsPackageJSONReadsIt(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := of(rapid.SliceOf(nanoseconds).Draw(t, "values")...)
		s.censored = s.buckets
		if rapid.Bool().Draw(t, "known") {
			s.censored = nil
		}
		text, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := written(text); !ok && s.max < 1e18 {
			t.Fatalf("%s is read the long way", text)
		}
		if at := rapid.IntRange(0, len(text)).Draw(t, "at"); at < len(text) {
			text[at] = rapid.Byte().Draw(t, "byte")
		}
		short, ok := written(text)
		var long snapshotJSON
		if err := json.Unmarshal(text, &long); ok && (err != nil || !reflect.DeepEqual(short, long)) {
			t.Fatalf("%s is read as %+v; want %+v, %v", text, short, long, err)
		}
	})
}

func FuzzUnmarshal(f *testing.F) {
	for _, s := range []Snapshot{{}, of(5), of(0, 1, 511, 512, 1e6, 1e9, Limit, 1<<62)} {
		data, _ := s.MarshalJSON()
		f.Add(data)
	}
	f.Add([]byte(`{"n":1,"b":"////////////AQE="}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Snapshot
		if json.Unmarshal(data, &s) != nil {
			return
		}
		for _, q := range []float64{0, 0.5, 0.99, 1} {
			if v := s.Quantile(q); v < s.Min() || v > s.Max() {
				t.Fatalf("quantile %g is %d, outside %d..%d", q, v, s.Min(), s.Max())
			}
		}
		again, err := json.Marshal(s)
		var back Snapshot
		if err == nil {
			err = json.Unmarshal(again, &back)
		}
		if err != nil || !equal(s, back) {
			t.Fatalf("%s became %s: %v", data, again, err)
		}
	})
}
