package wire

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestStatusesAndIdentitiesAreWrittenForPeople(t *testing.T) {
	for s, want := range map[Status]string{OK: "ok false", Bare: "bare false", TooShort: "too short true", Foreign: "foreign true", Damaged: "damaged true", 5: "status 5 true"} {
		if got := fmt.Sprint(s, " ", s.Corrupt()); got != want {
			t.Errorf("%d: %q, want %q", uint8(s), got, want)
		}
	}
	if got := fmt.Sprint(MakeID(3, 99)); got != "3/99" {
		t.Errorf("%q", got)
	}
}

func TestAnIdentityLosesWhatItHasNoRoomFor(t *testing.T) {
	if got := MakeID(MaxProducers, MaxSeq+1); got != 0 {
		t.Errorf("%v", got)
	}
	if got := MakeID(MaxProducers+7, MaxSeq+6); got.Producer() != 7 || got.Seq() != 5 {
		t.Errorf("%v, want 7/5", got)
	}
}

func TestAPayloadTooShortForAHeaderIsLeftAlone(t *testing.T) {
	for size := range HeaderSize {
		p := make([]byte, size)
		own, body := Split(p)
		if sum := Prepare(own, body, 0xFFFF); sum != 0 || slices.ContainsFunc(p, func(b byte) bool { return b != 0 }) {
			t.Errorf("%d bytes became %x, sum %d", size, p, sum)
		}
		if size >= IDSize {
			continue
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d bytes were stamped", size)
				}
			}()
			Stamp(p, 1, 2, 3, 4)
		}()
	}
}

// What is not ours is told from what is damaged, and the bytes are shown as they are in both cases.
func TestADamagedOrForeignHeaderIsShownAsItIs(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(HeaderSize, 200).Draw(t, "size")
		want := Header{
			ID: ID(rapid.Uint64().Draw(t, "id")), Intended: rapid.Int64().Draw(t, "intended"), Sent: rapid.Int64().Draw(t, "sent"),
			Run: rapid.Uint16().Draw(t, "run"), Timed: true,
		}
		p := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "body")
		stamp(p, want.ID, want.Intended, want.Sent, want.Run)
		if got, status := read(p); got != want || status != OK {
			t.Fatalf("%+v, %v; want %+v", got, status, want)
		}
		at := rapid.SampledFrom([]int{tagAt, tagAt + 1, sumAt, size - 1}).Draw(t, "changed byte")
		p[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		status := Damaged
		if at == tagAt || at == tagAt+1 {
			status = Foreign
		}
		if got, is := read(p); got != want || is != status {
			t.Fatalf("byte %d of %d changed: %+v, %v; want %+v, %v", at, size, got, is, want, status)
		}
	})
}
