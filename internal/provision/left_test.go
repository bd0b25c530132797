package provision

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatAKilledRunHasLeftOnABrokerIsNamed(t *testing.T) {
	h := newHost(t)
	names := func() (names []string) {
		for _, l := range LeftBehind(h.Dir) {
			names = append(names, l.Topics)
		}
		slices.Sort(names)
		return names
	}
	var notes []*Left
	for _, topics := range []string{"bm-a-", "bm-b-", "bm-c-"} {
		l, err := h.Note(Left{Broker: "jetstream", Addresses: []string{"10.0.0.7:4222"}, Topics: topics})
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, l)
	}
	if got := names(); len(got) != 0 {
		t.Errorf("%v were left by a process that lives", got)
	}
	if err := notes[0].Gone(); err != nil {
		t.Error(err)
	}
	if err := notes[1].Stays(); err != nil {
		t.Error(err)
	}
	notes[2].file.Close() // as the kernel does with a process that is killed
	if got := names(); !slices.Equal(got, []string{"bm-b-", "bm-c-"}) {
		t.Errorf("%v", got)
	}
	if text := LeftBehind(h.Dir)[0].String(); !strings.Contains(text, "jetstream at 10.0.0.7:4222: topics bm-b-*") {
		t.Error(text)
	}
	list, err := Holdings(h.Dir)
	if err != nil || len(list) != 2 || list[0].What != "note of topics" {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := Clear(h.Dir, list); err != nil || len(names()) != 0 {
		t.Errorf("%v, %v", names(), err)
	}
}
