package store

import (
	"io"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/doubt"
)

// Few bytes can stand for much: of each empty object in a list, a record that is decoded takes a kilobyte.
func TestARecordOfMoreObjectsThanAnyHasIsRefusedBeforeItIsDecoded(t *testing.T) {
	line := `{"schema":1,"point_id":"x","repetition":1,"status":"ok","spec":{"broker":"kafka"},"result":{"curve":[` +
		strings.TrimSuffix(strings.Repeat("{},", 300_000), ",") + "]}}\n"
	for _, err := range ReadRecordsFrom("a file", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(line)), nil }) {
		if err == nil || !strings.Contains(err.Error(), "it has 300003 objects; allowed: up to 250000") {
			t.Errorf("refused with %v", err)
		}
	}
	if why := (Record{PointID: "x", Repetition: 1 << 40}).lacks(); !strings.Contains(why, "spec.broker") {
		t.Error(why)
	}
	r := Record{PointID: "x", Repetition: 1 << 40}
	r.Spec.Broker = "kafka"
	if why := r.lacks(); !strings.Contains(why, "its repetition is 1099511627776; allowed: 1 to 1000000") {
		t.Error(why)
	}
}

// A doubt quotes servers, too.
func TestADoubtIsBoundedAndHasNoControlCharacters(t *testing.T) {
	d := DoubtOf(doubt.Network, "a\x1b[2Jb"+strings.Repeat("x", 1<<20))
	if !strings.HasPrefix(d.Text, "a[2Jbxxx") || len(d.Text) > 17<<10 {
		t.Errorf("%d bytes: %.20q", len(d.Text), d.Text)
	}
}
