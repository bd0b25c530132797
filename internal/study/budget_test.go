package study

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Each number is within its bound; what they make together is bounded, too.
func TestWhatIsMultipliedOrAddedUpIsBounded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p.txt", strings.Repeat("x", 40<<20))
	write(t, dir, "f.yaml", "")
	write(t, dir, "q.txt", strings.Repeat("y", 24<<20))
	write(t, dir, "r.txt", "12345678")
	write(t, dir, "p.csv", "a,b\n"+strings.Repeat("12345678,"+strings.Repeat("z", 400)+"\n", 100_000))
	if err := os.Symlink("p.txt", filepath.Join(dir, "l.txt")); err != nil {
		t.Fatal(err)
	}
	seeds := func(n, repeats int) string {
		return fmt.Sprintf("{repeats: %d, broker: nats, measure: rate, load.rate: 100, axes: {seed: {from: 1, to: %d, step: 1}}}", repeats, n)
	}
	sameFile := many(150, func(i int) string { return strings.Repeat("./", i) + "p.txt" })
	span := func(i int) string { return fmt.Sprintf("client.a%d: {from: 1, to: 10000, step: 1}", i) }
	for name, c := range map[string]struct {
		docs []string
		says string
	}{
		"points × repeats":            {[]string{seeds(101, 10_000)}, "f.yaml: repeats: 101 points, each 10000 times; allowed: 1000000 repetitions in all"},
		"allowed repetitions":         {[]string{seeds(100, 10_000)}, ""},
		"repetitions of studies":      {[]string{seeds(60, 10_000), seeds(41, 10_000)}, "f.yaml: repeats: 41 points, each 10000 times; allowed: 1000000 repetitions in all, together with the studies before it"},
		"points of studies":           {[]string{seeds(10_000, 1), "axes: {topics: {from: 1, to: 9001, step: 1}, nodes: {from: 1, to: 10, step: 1}}"}, "f.yaml: axes: more than 100000 points, together with the studies before it"},
		"names of a payload":          {[]string{"payloadFile: p.txt\naxes: {seed: [1, 2]}", "axes: {payloadFile: [l.txt, " + sameFile + "]}"}, ""},
		"allowed payloads":            {[]string{"axes: {payloadFile: [p.txt, q.txt]}"}, ""},
		"payloads of an axis":         {[]string{"axes: {payloadFile: [p.txt, r.txt, q.txt]}"}, "more than 64MiB of samples in all, with q.txt"},
		"payloads of studies":         {[]string{"payloadFile: p.txt", "payloadFile: q.txt", "payloadFile: r.txt"}, "more than 64MiB of samples in all, with r.txt"},
		"columns of one payload":      {[]string{"payloadFile: p.csv\naxes: {payloadColumn: [a, b]}"}, "more than 64MiB of samples in all, with p.csv"},
		"ranges":                      {[]string{"sweeps: [" + many(10, func(i int) string { return fmt.Sprintf("{name: s%d, axes: {%s}}", i, many(3, span)) }) + "]"}, "sweeps[6]"},
		"ranges of rates":             {[]string{"measure: curve\npoints: [" + many(30, func(int) string { return "{curve.rates: {from: 1, to: 10000, step: 1}}" }) + "]"}, "points[20].curve.rates"},
		"sweeps × scales":             {[]string{"sweeps: [" + many(200, func(i int) string { return fmt.Sprintf("{name: s%d}", i) }) + "]\nscales: {" + many(1100, func(i int) string { return fmt.Sprintf("x%d: {}", i) }) + "}"}, "scales.x1000"},
		"values of sweeps at a scale": {[]string{"axes: {seed: [1]}\nsweeps: [" + many(200, func(i int) string { return fmt.Sprintf("{name: s%d}", i) }) + "]\nscales: {x: {axes: {seed: {from: 1, to: 2000, step: 1}}}}"}, "scales.x"},
	} {
		t.Run(name, func(t *testing.T) {
			budget, err := new(Budget), error(nil)
			took := allocated(func() {
				for _, doc := range c.docs {
					s, invalid := Parse(filepath.Join(dir, "f.yaml"), []byte(doc))
					if err = invalid; err != nil {
						break
					}
					s.Distrusted = true
					points, refused := s.PointsWithin(budget)
					if err = refused; err == nil {
						Order(points, s.Repeats, 1, nil)
					}
				}
			})
			got := strings.ReplaceAll(fmt.Sprint(err), dir+"/", "")
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(got, c.says) {
				t.Errorf("%.300v; want %q", got, c.says)
			}
			if took > 600<<20 { // a file is read in pieces that grow
				t.Errorf("it takes %d MB", took>>20)
			}
		})
	}
}

// A repetition is much smaller than its point.
func TestRepetitionsShareTheirPoint(t *testing.T) {
	points := make([]Point, 100)
	if took := allocated(func() { Order(points, 10_000, 1, nil) }); took > 50<<20 {
		t.Errorf("a million repetitions take %d MB", took>>20)
	}
}
