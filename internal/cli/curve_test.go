package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// pageData is what a page holds for its figures.
func pageData(t *testing.T, path string, into any) {
	t.Helper()
	html, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(html), `id="data">`)
	text, _, ended := strings.Cut(rest, "</script>")
	if !found || !ended {
		t.Fatal("the page holds no data")
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func TestKnownLossesOfEachRateStandInTablesAndPage(t *testing.T) {
	dir := t.TempDir()
	db, page := filepath.Join(dir, "c.db"), filepath.Join(dir, "c.html")
	rates := []int{500, 4000, 2000}
	out := brokermark(t, "run", "--broker", "sim", "--delivery", "at-most-once", "--measure", "curve", "--set", "curve.rates=[500,4000,2000]",
		"--set", "client.loss.every=100", "--duration", "400ms", "--set", "warmup=100ms", "--set", "drain=2s", "--store", db, "--format", "jsonl")
	lines := out.objects(t)
	if len(lines) != len(rates) {
		t.Fatalf("%d lines, want one for each rate:\n%s\n%s", len(lines), out.out, out.err)
	}
	lost := map[string]int64{} // of a hundred messages in a row the broker loses one
	for i, rate := range rates {
		load, want := fmt.Sprintf("rate %s", map[int]string{500: "500/s", 4000: "4k/s", 2000: "2k/s"}[rate]), int64(rate)*4/10/100
		lost[load] = want
		if lines[i]["load"] != load || lines[i]["lost"] != float64(want) || lines[i]["sent"] != float64(want*100) {
			t.Errorf("line %d: load %v, lost %v of %v, want %d at %s", i+1, lines[i]["load"], lines[i]["lost"], lines[i]["sent"], want, load)
		}
		if !strings.Contains(fmt.Sprint(lines[i]["doubts"]), fmt.Sprintf("loss: %d of %d deliveries never came", want, want*100)) {
			t.Errorf("line %d: doubts %v", i+1, lines[i]["doubts"])
		}
	}
	for _, report := range []string{"summary", "ledger"} {
		text := brokermark(t, "report", report, "--store", db, "--format", "csv").want(t, 0).out
		table, _, _ := strings.Cut(text, "\n\n")
		rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
		if err != nil || len(rows) != 1+len(rates) {
			t.Fatalf("%s: %d rows, %v:\n%s", report, len(rows), err, text)
		}
		for _, row := range rows[1:] {
			at := map[string]string{}
			for i, name := range rows[0] {
				at[name] = row[i]
			}
			load := strings.Replace(at["load"], "curve ", "rate ", 1)
			if want, known := lost[load]; !known || at["lost"] != strconv.FormatInt(want, 10) {
				t.Errorf("%s: lost %q at %q, want %d", report, at["lost"], at["load"], want)
			}
		}
	}
	brokermark(t, "report", "--store", db, "--format", "html", "-o", page).want(t, 0)
	var data struct {
		Metrics []struct{ Key string }
		Levels  []struct {
			Load   string
			M      []any
			Doubts []int
		}
		Doubts []struct{ Class, Text string }
	}
	pageData(t, page, &data)
	if len(data.Levels) != len(rates) {
		t.Fatalf("%d levels in the page", len(data.Levels))
	}
	for _, l := range data.Levels {
		for i, m := range data.Metrics {
			if m.Key == "lost" && l.M[i] != float64(lost[l.Load]) {
				t.Errorf("the page shows %v lost at %s, want %d", l.M[i], l.Load, lost[l.Load])
			}
		}
		said := ""
		for _, i := range l.Doubts {
			said += data.Doubts[i].Class + ": " + data.Doubts[i].Text + "\n"
		}
		if want := fmt.Sprintf("not everything came: %d of %d deliveries never came", lost[l.Load], 100*lost[l.Load]); !strings.Contains(said, want) {
			t.Errorf("the page doubts %s by %q, want %q", l.Load, said, want)
		}
	}
}
