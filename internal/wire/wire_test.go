package wire

import (
	"bytes"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func stamped(size int, id ID) []byte {
	p := make([]byte, size)
	for i := range p {
		p[i] = byte(i * 7)
	}
	stamp(p, id, 1_000_000_007, -3, 0xBEEF)
	return p
}

// stamp writes a stamp into a payload that carries its stamp itself.
func stamp(payload []byte, id ID, intended, sent int64, run uint16) {
	s, body := Split(payload)
	Stamp(s, id, intended, sent, Prepare(s, body, run))
}

func read(payload []byte) (h Header, is Status) {
	is = h.Read(Split(payload))
	return h, is
}

func readText(text, body []byte) (h Header, is Status) {
	is = h.ReadText(text, body)
	return h, is
}

func TestPayloadsNobodyStampedAreCorrupt(t *testing.T) {
	for name, c := range map[string]struct {
		payload []byte
		want    Status
	}{
		"nil":               {nil, TooShort},
		"seven bytes":       {make([]byte, 7), TooShort},
		"zeros":             {make([]byte, 100), Foreign},
		"text":              {bytes.Repeat([]byte("hello "), 20), Foreign},
		"cut in its body":   {stamped(100, 1)[:99], Damaged},
		"grown":             {append(stamped(100, 1), 0), Damaged},
		"magic of a sudden": {append(append(make([]byte, 24), magic, version, 0, 0), 1, 2, 3, 4, 5), Damaged},
	} {
		if _, got := read(c.payload); got != c.want || !got.Corrupt() {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAnySingleFlippedBitIsNoticed(t *testing.T) {
	for _, size := range []int{32, 33, 100, 257} {
		p := stamped(size, MakeID(3, 99))
		for bit := range size * 8 {
			p[bit/8] ^= 1 << (bit % 8)
			if _, got := read(p); !got.Corrupt() {
				t.Errorf("%d bytes, bit %d flipped: %v", size, bit, got)
			}
			p[bit/8] ^= 1 << (bit % 8)
		}
	}
}

func TestWhatWasStampedIsRead(t *testing.T) {
	id := MakeID(MaxProducers-1, MaxSeq)
	if id.Producer() != MaxProducers-1 || id.Seq() != MaxSeq {
		t.Fatalf("id %v", id)
	}
	want := Header{ID: id, Intended: 1_000_000_007, Sent: -3, Run: 0xBEEF, Timed: true}
	for _, size := range []int{32, 33, 100, 10_000} {
		if got, status := read(stamped(size, id)); got != want || status != OK {
			t.Errorf("%d bytes: %+v, %v; want %+v", size, got, status, want)
		}
	}
	for _, size := range []int{8, 9, 31} {
		p := stamped(size, id)
		if got, status := read(p); got != (Header{ID: id}) || status != Bare || status.Corrupt() {
			t.Errorf("%d bytes: %+v, %v", size, got, status)
		}
		for i := 8; i < size; i++ {
			if p[i] != byte(i*7) {
				t.Errorf("%d bytes: byte %d of the body was changed", size, i)
			}
		}
	}
}

func TestAnIdentityHoldsAnyProducerAndSequence(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		producer := rapid.Uint32Range(0, MaxProducers-1).Draw(t, "producer")
		seq := rapid.Uint64Range(0, MaxSeq).Draw(t, "seq")
		id := MakeID(producer, seq)
		if id.Producer() != producer || id.Seq() != seq {
			t.Fatalf("%d/%d became %v", producer, seq, id)
		}
		p := make([]byte, IDSize)
		stamp(p, id, 0, 0, 0)
		if got, ok := ReadID(p); !ok || got != id {
			t.Fatalf("%v became %v on its way", id, got)
		}
	})
}

func TestAMillionTopicsWithFourProducersHaveIdentities(t *testing.T) {
	if MaxProducers < 4_000_000 {
		t.Errorf("%d producers", MaxProducers)
	}
	const week = 7 * 24 * 3600
	if most := uint64(MaxSeq) / 2 / week; most < 3_000_000 { // the upper half is the probes'
		t.Errorf("a producer runs out of sequence numbers within a week at %d/s", most)
	}
}

func TestABufferIsStampedAgainWithoutSummingItsBody(t *testing.T) {
	p := make([]byte, 1000)
	own, body := Split(p)
	sum := Prepare(own, body, 1)
	for seq := range uint64(10) {
		Stamp(own, MakeID(1, seq), int64(seq), int64(seq)+1, sum)
		if h, status := read(p); status != OK || h.ID.Seq() != seq || h.Sent != int64(seq)+1 {
			t.Fatalf("message %d: %+v, %v", seq, h, status)
		}
	}
}

func TestTheLayoutStays(t *testing.T) {
	p := make([]byte, 33)
	p[32] = 0xFF
	stamp(p, MakeID(0x010203, 0x030405060708), 0x11, 0x22, 0x3344)
	want := []byte{
		8, 7, 6, 5, 4, 0x0F, 8, 4, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x22, 0, 0, 0, 0, 0, 0, 0,
		0xB7, 4, 0x44, 0x33, 0, 0, 0, 0, 0xFF,
	}
	spread := uint64(0x9E3779B97F4A7C15)
	sum := uint32(xxh3.HashSeed(want[:24], xxh3.Hash(want[32:])^0x3344*spread))
	want[28], want[29], want[30], want[31] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
	if !bytes.Equal(p, want) {
		t.Errorf("got  %x\nwant %x", p, want)
	}
}

func TestStampingAndReadingAllocateNothing(t *testing.T) {
	p := stamped(100, 1)
	own, body := Split(p)
	sum := Prepare(own, body, 1)
	if got := testing.AllocsPerRun(1000, func() {
		Stamp(own, 5, 6, 7, sum)
		if _, status := read(p); status != OK {
			t.Fatal(status)
		}
	}); got != 0 {
		t.Errorf("%g allocations per message", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(nil), uint(0))
	f.Add(stamped(8, 1), uint(3))
	f.Add(stamped(32, 1), uint(200))
	f.Add(stamped(100, 1), uint(799))
	f.Fuzz(func(t *testing.T, p []byte, bit uint) {
		h, status := read(p)
		if id, ok := ReadID(p); ok && id != h.ID || !ok && status != TooShort {
			t.Fatalf("ReadID %v, %v; Read %+v, %v", id, ok, h, status)
		}
		if len(p) < HeaderSize {
			return
		}
		stamp(p, h.ID, h.Intended, h.Sent, h.Run)
		if again, status := read(p); again != h || status != OK {
			t.Fatalf("stamped %+v, read %+v, %v", h, again, status)
		}
		bit %= uint(len(p) * 8)
		p[bit/8] ^= 1 << (bit % 8)
		if _, status := read(p); !status.Corrupt() {
			t.Fatalf("bit %d of %d bytes flipped: %v", bit, len(p), status)
		}
	})
}

func BenchmarkStampAndRead100(b *testing.B) {
	p := stamped(100, 1)
	own, body := Split(p)
	sum := Prepare(own, body, 1)
	for i := int64(0); b.Loop(); i++ {
		Stamp(own, ID(i), i, i, sum)
		if _, status := read(p); status != OK {
			b.Fatal(status)
		}
	}
}

func TestAStampBesideABodyIsReadFromItsText(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		want := Header{
			ID: ID(rapid.Uint64().Draw(t, "id")), Intended: rapid.Int64().Draw(t, "intended"), Sent: rapid.Int64().Draw(t, "sent"),
			Run: rapid.Uint16().Draw(t, "run"), Timed: true,
		}
		own, text, before := make([]byte, HeaderSize), make([]byte, TextSize), bytes.Clone(body)
		Stamp(own, want.ID, want.Intended, want.Sent, Prepare(own, body, want.Run))
		PutText(text, own)
		if got, status := readText(text, body); got != want || status != OK || !bytes.Equal(body, before) {
			t.Fatalf("%+v, %v of %x; want %+v of %x", got, status, body, want, before)
		}
		for _, c := range text {
			if c <= ' ' || c > '~' {
				t.Fatalf("%q is not printable", text)
			}
		}
		for name, other := range map[string][]byte{"grown": append(bytes.Clone(body), 0), "another": append([]byte{1}, body...)} {
			if _, status := readText(text, other); status != Damaged {
				t.Fatalf("%s body: %v", name, status)
			}
		}
		at := rapid.IntRange(0, TextSize-1).Draw(t, "changed character")
		text[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		if _, status := readText(text, body); !status.Corrupt() {
			t.Fatalf("character %d changed: %v", at, status)
		}
		if _, status := readText(text[:at], body); status != Foreign {
			t.Fatalf("cut to %d characters: %v", at, status)
		}
	})
}

func TestAStampBesideABodyAllocatesNothing(t *testing.T) {
	body, own, text := make([]byte, 100), make([]byte, HeaderSize), make([]byte, TextSize)
	sum := Prepare(own, body, 1)
	if got := testing.AllocsPerRun(1000, func() {
		Stamp(own, 5, 6, 7, sum)
		PutText(text, own)
		if _, status := readText(text, body); status != OK {
			t.Fatal(status)
		}
	}); got != 0 {
		t.Errorf("%g allocations per message", got)
	}
}

func BenchmarkStampAndReadText100(b *testing.B) {
	body, own, text := make([]byte, 100), make([]byte, HeaderSize), make([]byte, TextSize)
	sum := Prepare(own, body, 1)
	for i := int64(0); b.Loop(); i++ {
		Stamp(own, ID(i), i, i, sum)
		PutText(text, own)
		if _, status := readText(text, body); status != OK {
			b.Fatal(status)
		}
	}
}
