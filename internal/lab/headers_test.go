package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestPayloadsOfFilesAreUntouchedWhereMessagesCarryHeaders(t *testing.T) {
	mute := driver.Kind{Name: "mute"}
	carrying := driver.Kind{Name: "carrying", Headers: driver.Always}
	later := driver.Kind{Name: "later", Headers: func(g driver.Guarantee, _ driver.Values) string {
		if g.Delivery == driver.AtMostOnce {
			return "at most once it has none"
		}
		return ""
	}}
	for name, c := range map[string]struct {
		kind     driver.Kind
		file, in string
		doubt    string
	}{
		"made up":                {carrying, "", "", ""},
		"made up, no headers":    {mute, "", "", ""},
		"of a file":              {carrying, "a.json", store.InHeader, ""},
		"of a file, no headers":  {mute, "a.json", store.InBody, "since a message has no headers in the protocol of mute"},
		"no headers as asked of": {later, "a.json", store.InBody, "since at most once it has none"},
	} {
		b := &bench{spec: study.Defaults(), record: &store.Record{PointID: "0123456789abcdef"}}
		b.spec.PayloadFile = c.file
		b.noteIdentity(c.kind, driver.Config{Guarantee: driver.Guarantee{Delivery: driver.AtMostOnce}})
		if b.record.Identity != c.in || b.plan().Payload.Untouched != (c.in == store.InHeader) || (b.headerBytes > 0) != (c.in == store.InHeader) {
			t.Errorf("%s: in %q, %d bytes; want %q", name, b.record.Identity, b.headerBytes, c.in)
		}
		i := slices.IndexFunc(b.record.Doubts, func(d store.Doubt) bool { return d.Is(doubt.Stamped) })
		if (i >= 0) != (c.doubt != "") || i >= 0 && !strings.HasSuffix(b.record.Doubts[i].Text, c.doubt) {
			t.Errorf("%s: doubts %+v", name, b.record.Doubts)
		}
	}
}

func TestHeadersOfASpecAreThoseOfItsMessages(t *testing.T) {
	s := study.Defaults()
	s.Headers = study.Headers{"count": 2, "size": 300}
	for range 2 {
		list := ownHeaders(s, 7)
		if len(list) != 2 || list[1].Name != "h2" || len(list[1].Value) != 300 || string(list[0].Value) == string(list[1].Value) {
			t.Fatalf("%s", list)
		}
	}
	of := func(seed int64) string { return string(ownHeaders(s, seed)[0].Value) }
	if again := of(7); of(7) != again || of(8) == again {
		t.Error("values don't follow from the seed")
	}
	s.Headers = study.Headers{"n": 5, "content-type": "text/plain"}
	if list := ownHeaders(s, 1); len(list) != 2 || list[0].Name != "content-type" || string(list[1].Value) != "5" {
		t.Errorf("%s", list)
	}
}
