package store

import (
	"bufio"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/doubt"
)

// Few bytes can stand for much: each of two bytes that is a rate of a curve takes a kilobyte once it is decoded, and reports hold many
// records. So lists are bounded, and so is all that is decoded at a time.
func TestARecordOfMoreThanAnyHasIsRefusedBeforeItTakesMemory(t *testing.T) {
	list := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	zero, err := json.Marshal(CurvePoint{Status: OK})
	if err != nil {
		t.Fatal(err)
	}
	rate := string(zero) // no rate is shorter
	members := func(n int, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":%s,`, i, value)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	for _, c := range []struct{ name, what, says string }{
		{"rates", `"result":{"curve":` + list(10_001, rate) + `}`, "its curve has more than 10000 rates"},
		{"rates without figures", `"result":{"curve":` + list(10_000, "{}") + `}`, "rate 1 of its curve has 2 bytes; each has its figures, and 256 bytes at least"},
		{"a rate without an end", `"result":{"curve":[` + strings.Replace(rate, "ok", "", 1) + `]}`, `the status of rate 1 of its curve is ""; allowed: ok`},
		{"allowed rates", `"result":{"curve":` + list(10_000, rate) + `}`, ""},
		{"objects", `"result":{"streams":` + list(700_000, "{}") + `}`, "its objects and values take up to 219 MB of memory; allowed: up to 192"},
		{"streams", `"result":{"streams":` + list(100_001, "{}") + `}`, "its streams has 100001 elements; allowed: up to 100000"},
		{"allowed streams", `"result":{"streams":` + list(100_000, "{}") + `}`, ""},
		{"trials", `"result":{"sustainable":{"trials":` + list(100_001, "{}") + `}}`, "its trials has 100001 elements; allowed: up to 100000"},
		{"ticks", `"result":{"series":` + list(100_001, "{}") + `}`, "its series has 100001 elements; allowed: up to 100000"},
		{"ticks of a rate", `"result":{"curve":[{"status":"ok","series":` + list(100_001, "{}") + `}]}`, "its series has 100001 elements; allowed: up to 100000"},
		{"lost messages", `"result":{"streams":[{"lost_ranges":` + list(10_001, "[0,0]") + `}]}`, "its lost_ranges has 10001 elements; allowed: up to 10000"},
		{"texts", `"result":{"sustainable":{"trials":[{"others":` + list(3_200_000, `""`) + `}]}}`, "its objects and values take up to"},
		{"doubts", `"doubts":` + list(10_001, "{}"), "its doubts has 10001 elements; allowed: up to 10000"},
		{"agents", `"agents":` + list(10_001, "{}"), "its agents has 10001 elements; allowed: up to 10000"},
		{"settings", `"settings":{"server":` + members(10_001, "1") + `}`, "its server has 10001 elements; allowed: up to 10000"},
		{"many settings", `"settings":{"server":` + members(2_500_000, "1") + `}`, "its objects and values take up to"},
		{"figures", `"result":{"given":` + members(10_001, "1") + `}`, "its given has 10001 elements; allowed: up to 10000"},
		{"axes", `"axes":` + members(10_001, `""`), "its axes has 10001 elements; allowed: up to 10000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := `{"schema":1,"point_id":"x","repetition":1,"status":"ok","spec":{"broker":"kafka"},` + c.what + "}\n"
			file := &lines{path: "f", from: bufio.NewReader(strings.NewReader(strings.Repeat(line, 60)))}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			batch, err := file.next()
			for i := range batch {
				batch[i].decode("f")
			}
			runtime.ReadMemStats(&after)
			runtime.GC()
			var kept runtime.MemStats
			runtime.ReadMemStats(&kept)
			if err != nil || len(batch) == 0 {
				t.Fatal(len(batch), err)
			}
			if got := batch[0].damage; (got == nil) != (c.says == "") || got != nil && !strings.Contains(got.Error(), c.says) {
				t.Errorf("%v; want %q", got, c.says)
			}
			all, live := (after.TotalAlloc-before.TotalAlloc)>>20, (int64(kept.HeapAlloc)-int64(before.HeapAlloc))>>20
			if all > 800 || live > 200 { // lists grow while they are decoded
				t.Errorf("%d records of %d bytes: %d MB, of which %d MB stay", len(batch), len(line), all, live)
			}
			runtime.KeepAlive(batch)
		})
	}
}

func TestARepetitionBeyondAMillionIsNone(t *testing.T) {
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
