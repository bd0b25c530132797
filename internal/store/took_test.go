package store

import (
	"testing"
	"time"
)

func TestARepetitionWithoutABeginOrAnEndTookNoTime(t *testing.T) {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		record Record
		want   time.Duration
	}{
		{record: Record{Began: began, Ended: began.Add(5 * time.Second)}, want: 5 * time.Second},
		{record: Record{Began: began}},
		{record: Record{Ended: began}},
		{record: Record{}},
	} {
		if got := c.record.Took(); got != c.want {
			t.Errorf("from %v to %v: %v, want %v", c.record.Began, c.record.Ended, got, c.want)
		}
	}
}
