package hist

import (
	"testing"
)

func BenchmarkRecord(b *testing.B) {
	h := New()
	v := int64(1)
	for b.Loop() {
		v = (v*1664525 + 1013904223) & (1<<24 - 1)
		h.Record(v)
	}
}

func BenchmarkSnapshotInto(b *testing.B) {
	h := New()
	for i := int64(0); i < 1_000_000; i++ {
		h.Record(i * 100)
	}
	var s Snapshot
	for b.Loop() {
		h.SnapshotInto(&s)
	}
}
