package store_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

// inFile is how many records are imported: so many that memory would grow with them if it did.
const inFile = 20_000

// Records as short runs leave them, and as searches and curves do. CPU is that of the whole process, for each record.
func BenchmarkImport(b *testing.B) {
	h := hist.New()
	for i := range int64(60) {
		h.Record(i * i * 1000)
	}
	short := storetest.Products[0].Record(100, "rate", 1)
	short.Result = &store.Result{Measurement: store.Measurement{Latency: store.Latency{EndToEnd: h.Snapshot(), Publish: h.Snapshot()}}}
	for _, c := range []struct {
		name string
		one  store.Record
	}{{"short", short}, {"mean", storetest.Demo()[16]}, {"long", storetest.Demo()[1]}} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f.jsonl")
			size := fill(b, path, c.one)
			b.SetBytes(size)
			b.ReportAllocs()
			began := used(b)
			for b.Loop() {
				s, err := store.Open(filepath.Join(b.TempDir(), "s.db"))
				if err != nil {
					b.Fatal(err)
				}
				if stored, _, err := s.Import(b.Context(), store.ReadRecords(path)); err != nil || stored != inFile {
					b.Fatal(stored, err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			records := inFile * float64(b.N)
			b.ReportMetric(records/b.Elapsed().Seconds(), "records/s")
			b.ReportMetric((used(b)-began)/records*1e6, "cpu-µs/record")
			b.ReportMetric(float64(size)/inFile, "B/record")
			b.ReportMetric(float64(peak(b))/1e6, "peak-MB")
		})
	}
}

// fill writes a file of records that differ in their points and repetitions, and returns how long it is.
func fill(b *testing.B, path string, one store.Record) int64 {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for n := range inFile {
		one.PointID, one.Repetition = fmt.Sprint("p", n/5), n%5+1
		if err := json.NewEncoder(f).Encode(one); err != nil {
			b.Fatal(err)
		}
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

func usage(b *testing.B) syscall.Rusage {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}

// used is the processor time of this process, in seconds.
func used(b *testing.B) float64 {
	b.Helper()
	u := usage(b)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// peak is the most memory that this process had, in bytes.
func peak(b *testing.B) int64 {
	b.Helper()
	return usage(b).Maxrss << 10
}
