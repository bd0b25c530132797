package worker

import (
	"bytes"
	"compress/flate"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/wire"
)

func TestPayloadsThatCannotBeSentAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		payload Payload
		want    string
	}{
		"too small":    {Payload{Sizes: []Size{{100, 1}, {7, 1}}}, "message size 7: at least 8 bytes are needed"},
		"short, given": {Payload{Given: [][]byte{[]byte("seven b")}}, "payload sample 1 has 7 bytes; at least 8 are needed"},
		"none":         {Payload{}, "neither sizes nor samples are given"},
		"no weights":   {Payload{Sizes: []Size{{100, 0}, {200, 0}}}, "payload: weights of sizes add up to 0, not to a positive number"},
		"no number":    {Payload{Sizes: []Size{{100, math.NaN()}}}, "add up to NaN"},
		"negative":     {Payload{Sizes: []Size{{100, -1}, {200, 3}}}, "payload: the weight -1 of size 100 is below 0"},
		"infinite":     {Payload{Sizes: []Size{{100, math.Inf(1)}}}, "add up to +Inf"},
		"too random":   {Payload{Sizes: []Size{{100, 1}}, Random: 1.1}, "payload: the random share 1.1 is not between 0 and 1"},
		"never read":   {Payload{Samples: "a.jsonl", Sizes: []Size{{100, 1}}}, "payload samples: those of a.jsonl were not read"},
	} {
		if _, err := newBodies(c.payload, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

func TestSizesOccurWithTheirWeights(t *testing.T) {
	const n = 400_000
	p := Payload{Sizes: []Size{{8, 1}, {100, 6}, {1000, 2}, {5000, 1}}, Random: 1, Pool: 3, Seed: 7}
	b, err := newBodies(p, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts, used := map[int]int{}, map[int]bool{}
	for seq := range n {
		body := b.pick(seq%5, uint64(seq))
		counts[len(b.all[body].content)]++
		used[body] = true
		if again := b.pick(seq%5, uint64(seq)); again != body {
			t.Fatalf("message %d is body %d, then %d", seq, body, again)
		}
	}
	for _, s := range p.Sizes {
		share := s.Weight / 10
		if got := float64(counts[s.Bytes]) / n; math.Abs(got-share) > 5*math.Sqrt(share*(1-share)/n) { // five standard errors
			t.Errorf("%d bytes: share %.4f, want %.4f", s.Bytes, got, share)
		}
	}
	if len(used) != 12 {
		t.Errorf("%d different bodies were sent, want 4 sizes × 3", len(used))
	}
	if mean := 0.8 + 60 + 200 + 500; math.Abs(b.meanBytes-mean) > 1e-9 || b.largest != 5000 || b.smallest != 8 {
		t.Errorf("mean %g, largest %d, shortest %d; want %g, 5000, 8", b.meanBytes, b.largest, b.smallest, mean)
	}
}

func TestTheSeedAloneDecidesTheContents(t *testing.T) {
	made := func(seed int64) [][]byte {
		b, err := newBodies(Payload{Sizes: []Size{{50, 1}, {60, 1}}, Random: 1, Pool: 5, Seed: seed}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var contents [][]byte
		for _, one := range b.all {
			contents = append(contents, one.content)
		}
		return contents
	}
	first := bytes.Join(made(1), nil)
	if !bytes.Equal(first, bytes.Join(made(1), nil)) {
		t.Error("the same seed made other payloads")
	}
	if bytes.Equal(first, bytes.Join(made(2), nil)) {
		t.Error("another seed made the same payloads")
	}
}

func TestTheRandomShareDoesNotCompressAndTheRestDoes(t *testing.T) {
	const size = 10_000
	for _, share := range []float64{0, 0.25, 0.5, 1} {
		b, err := newBodies(Payload{Sizes: []Size{{size, 1}}, Random: share, Pool: 2, Seed: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range b.all {
			var out bytes.Buffer
			w, _ := flate.NewWriter(&out, flate.BestCompression)
			_, _ = w.Write(body.content)
			_ = w.Close()
			if got := float64(out.Len()) / size; math.Abs(got-share) > 0.02 {
				t.Errorf("random share %g: %.3f of it is left when compressed", share, got)
			}
		}
		if bytes.Equal(b.all[0].content, b.all[1].content) != (share == 0) {
			t.Errorf("random share %g: two bodies of the pool are the same: %v", share, share != 0)
		}
	}
}

func TestEveryByteOfARandomPayloadIsRandom(t *testing.T) {
	const pool = 400
	for _, size := range []int{40, 47} { // in whole words, and with a rest
		b, err := newBodies(Payload{Sizes: []Size{{size, 1}}, Random: 1, Pool: pool, Seed: 3}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for at := wire.HeaderSize; at < size; at++ {
			values := map[byte]bool{}
			for _, body := range b.all {
				values[body.content[at]] = true
			}
			if len(values) < 150 { // of 256, in 400 draws about 202
				t.Errorf("byte %d of %d has %d values in %d payloads", at, size, len(values), pool)
			}
		}
	}
}

func TestSamplesAreSentAsTheyAre(t *testing.T) {
	texts := []string{strings.Repeat("one", 11), strings.Repeat("two ", 25), "8 bytes!"}
	given := [][]byte{[]byte(texts[0]), []byte(texts[1]), []byte(texts[2])}
	b, err := newBodies(Payload{Samples: "somewhere", Given: given, Seed: 3}, 9)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if string(given[i]) != text {
			t.Error("what was given was written to")
		}
		if body := b.all[i].content; len(body) != len(text) {
			t.Errorf("%s: %d bytes, want %d", text, len(body), len(text))
		} else if len(text) > wire.HeaderSize && string(body[wire.HeaderSize:]) != text[wire.HeaderSize:] {
			t.Errorf("%s: %q behind the header", text, body[wire.HeaderSize:])
		}
	}
	counts := map[int]int{}
	for seq := range 30_000 {
		counts[b.pick(0, uint64(seq))]++
	}
	for i, n := range counts {
		if math.Abs(float64(n)-10_000) > 5*82 { // five standard deviations
			t.Errorf("sample %d was sent %d times of 30,000", i, n)
		}
	}
	one, err := newBodies(Payload{Given: given[:1]}, 9)
	if err != nil || len(one.all) != 1 || one.meanBytes != 33 {
		t.Errorf("a single one: %+v, %v", one, err)
	}
}

func TestKeysAreRefusedByName(t *testing.T) {
	for want, k := range map[string]Keys{
		`keys: "zip" is not one of none, roundrobin, random, zipf`: {Kind: "zip", N: 1},
		"keys: 0 distinct keys; at least 1 is needed":              {Kind: "random"},
	} {
		if _, err := newKeyChooser(k); err == nil || err.Error() != want {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if k, err := newKeyChooser(Keys{Kind: "none"}); k != nil || err != nil {
		t.Errorf("none: %v, %v", k, err)
	}
}

func TestKeysOccurAsTheirDistributionSays(t *testing.T) {
	const n, keys = 300_000, 20
	for kind, share := range map[string]func(key int) float64{
		"roundrobin": func(int) float64 { return 1.0 / keys },
		"random":     func(int) float64 { return 1.0 / keys },
		"zipf": func(key int) float64 {
			var sum float64
			for i := 1; i <= keys; i++ {
				sum += math.Pow(float64(i), -1.3)
			}
			return math.Pow(float64(key+1), -1.3) / sum
		},
	} {
		k, err := newKeyChooser(Keys{Kind: kind, N: keys, Exponent: 1.3, Seed: 11})
		if err != nil {
			t.Fatal(err)
		}
		var counts [keys]int
		for seq := range uint64(n) {
			key := k.of(2, seq)
			if again := k.of(2, seq); again != key {
				t.Fatalf("%s: message %d has keys %d and %d", kind, seq, key, again)
			}
			counts[key]++
		}
		for key, got := range counts {
			p := share(key)
			off := math.Abs(float64(got)/n - p)
			if kind == "roundrobin" && off != 0 || off > 5*math.Sqrt(p*(1-p)/n) {
				t.Errorf("%s: key %d has share %.4f, want %.4f", kind, key, float64(got)/n, p)
			}
		}
		if kind != "roundrobin" && k.of(0, 1) == k.of(1, 1) && k.of(0, 2) == k.of(1, 2) && k.of(0, 3) == k.of(1, 3) {
			t.Errorf("%s: two producers use the same keys in the same order", kind)
		}
	}
}

func TestUntouchedSamplesKeepEveryByte(t *testing.T) {
	texts := []string{`{"rider":1,"resort":"north face"}`, `{"id":1}`, strings.Repeat("x", 5000)}
	var given [][]byte
	for _, text := range texts {
		given = append(given, []byte(text))
	}
	var mu sync.Mutex
	came, headers := map[string]int{}, 0
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		mu.Lock()
		for _, m := range batch {
			came[string(m.Payload)]++
			if values := m.Headers.Values(); len(values) == len(p.config.Headers) && string(values[1]) == "of the plan" {
				headers++
			}
		}
		mu.Unlock()
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}}
	plan := simple(1, 1)
	plan.Payload = Payload{Samples: "somewhere", Given: given, Untouched: true}
	plan.Headers = []driver.Header{{Name: "own", Value: []byte("of the plan")}}
	w := ready(t, d, plan)
	clear(came) // of probes
	headers = 0
	out := w.Run(t.Context(), Load{Messages: 300, Drain: time.Second})
	if m := out.Measured; m.Received != 300 || m.Lost+m.Corrupted+m.Duplicated+m.Untimed != 0 || headers != 300 {
		t.Errorf("%+v, %d messages with headers", m, headers)
	}
	for _, text := range texts {
		if came[text] == 0 {
			t.Errorf("%.40q was never sent", text)
		}
		delete(came, text)
	}
	if len(came) > 0 {
		t.Errorf("%d other payloads were sent: %.80q", len(came), slices.Collect(maps.Keys(came)))
	}
}

func TestAMessageOfUntouchedPayloadsIsCheckedLikeAnyOther(t *testing.T) {
	plan := simple(1, 1)
	plan.Payload = Payload{Samples: "somewhere", Given: [][]byte{[]byte(`{"rider":1,"resort":"north face"}`)}, Untouched: true}
	plan.Headers = []driver.Header{{Name: "own", Value: []byte("of the plan")}}
	var last driver.Received // of the message before
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		for _, m := range batch {
			headers := driver.Headers{bytes.Clone((*m.Headers)[0]), (*m.Headers)[1]}
			one := driver.Received{Payload: bytes.Clone(m.Payload), Headers: &headers}
			var h wire.Header
			if status := h.ReadText(headers[0], m.Payload); status != wire.OK {
				t.Fatal(status)
			}
			whole := one
			switch h.ID.Seq() % 10 {
			case 0:
				one.Payload = one.Payload[:20]
			case 1:
				one.Payload[5] ^= 1
			case 2:
				headers[0][3] ^= 1
			case 3:
				one.Headers = &driver.Headers{nil, headers[1]}
			case 4:
				one.Headers = &driver.Headers{headers[0], nil}
			case 5: // lost
				continue
			case 6:
				one = last // that of case 4, whole
			case 9:
				p.sinks[0].Deliver([]driver.Received{one})
			}
			last = whole
			p.sinks[0].Deliver([]driver.Received{one})
		}
		p.done(batch, nil)
		return nil
	}}
	out := ready(t, d, plan).Run(t.Context(), Load{Messages: 1000, Drain: 50 * time.Millisecond})
	if m := out.Measured; m.Corrupted != 500 || m.Duplicated != 100 || m.Received != 400 || m.Lost != 600 {
		t.Errorf("%+v; want 500 corrupted, 100 duplicated, 400 received", m)
	}
}
