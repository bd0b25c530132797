package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// The consumer's delay bounds how fast 100 messages can be through, so the best setting is known.
func TestASweepEndsInARecommendation(t *testing.T) {
	dir := t.TempDir()
	db, page := filepath.Join(dir, "s.db"), filepath.Join(dir, "r.html")
	args := short("--store", db, "--axis", "client.latency=1ms,40ms,80ms", "--axis", "inFlight.messages=10,20", "--set", "count.messages=100")
	out := strings.Join(strings.Fields(brokermark(t, args...).want(t, 0).out), " ")
	for _, says := range []string{"Of 6 points client.latency=1ms inFlight.messages=", "is the best by total time", "More: brokermark report recommend."} {
		if !strings.Contains(out, says) {
			t.Errorf("the summary doesn't say %q:\n%s", says, out)
		}
	}
	out = brokermark(t, "report", "recommend", "--store", db, "--format", "csv").want(t, 0).out
	if !strings.Contains(out, "axis:client.latency,axis:inFlight.messages,total_s") || !strings.Contains(out, "client.latency,1ms,80ms,") {
		t.Errorf("axes have no columns, or what they changed isn't told:\n%s", out)
	}
	brokermark(t, "report", "--store", db, "-o", page).want(t, 0)
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "Recommended settings") {
		t.Errorf("%v; the page recommends nothing", err)
	}
	if out := brokermark(t, "report", "recommend", "--store", db, "--where", "client.latency=1ms").want(t, 0).out; !strings.Contains(out, "nothing to recommend") {
		t.Errorf("of two points:\n%s", out)
	}
}

func TestRepetitionsEndWhenAPointIsKnownCloselyEnough(t *testing.T) {
	db := filepath.Join(t.TempDir(), "s.db")
	// Each repetition takes about the 50 ms that sim delays a message, so an interval within ±90 % is reached with the first six, unless
	// the machine holds one of them up for long.
	r := brokermark(t, short("--store", db, "--repeat", "until 90%, at most 20", "--set", "client.latency=50ms", "--set", "count.messages=20")...).want(t, 0)
	st, err := store.OpenReadOnlyContext(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	records, err := st.Records(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	known := func(repetitions int) bool {
		values := results.MustMetric(results.KeyTotalSeconds).Values(records[:repetitions])
		return results.Summarize(values).RelativeHalfWidth() <= 0.9
	}
	ran := len(records)
	if ended := fmt.Sprintf("after %d repetitions: no more are needed", ran); ran < 6 || !known(ran) || !strings.Contains(r.err, ended) {
		t.Errorf("%d repetitions; stderr:\n%s", ran, r.err)
	}
	if ran > 6 && known(ran-1) {
		t.Errorf("%d repetitions, though one fewer was enough:\n%s", ran, r.err)
	}
	r = brokermark(t, append([]string{"check", "--repeat", "until 5%"}, short("--store", db)[1:]...)...).want(t, 0)
	says := "Repetitions: until the interval is within ±5 % of the median, at most 20; an interval by which a run stops holds the truth in fewer than 95 % of such runs"
	if !strings.Contains(strings.Join(strings.Fields(r.out), " "), says) {
		t.Errorf("check says:\n%s", r.out)
	}
	for repeat, says := range map[string]string{
		"until":               `"until" is no number of repetitions; allowed: 1 to 10000, or "until 5%"`,
		"until 0%":            "out of range",
		"until 5%, at most 0": "out of range",
		"0":                   "0 is out of range; allowed: 1 to 10000",
		"some":                `"some" is not a whole number`,
	} {
		r := brokermark(t, "check", "--broker", "sim", "--repeat", repeat).want(t, 2)
		if !strings.Contains(r.err, says) {
			t.Errorf("--repeat %s says %q, want %q", repeat, r.err, says)
		}
	}
}

func TestCheckSaysWhatTheRepetitionsCanShow(t *testing.T) {
	for repeat, says := range map[string]string{
		"2": "Repetitions: 2, too few to decide between 2 brokers: that takes --repeat 3; a 95 % interval of a median needs 6.",
		"3": "Repetitions: 3; a 95 % interval of a median needs 6.",
		"6": "Repetitions: 6.",
	} {
		r := brokermark(t, "check", "--broker", "sim,nats", "--measure", "peak", "--delivery", "at-most-once", "--repeat", repeat, "--store", filepath.Join(t.TempDir(), "s.db")).want(t, 0)
		if out := strings.Join(strings.Fields(r.out), " "); !strings.Contains(out, says) {
			t.Errorf("with %s:\n%s", repeat, r.out)
		}
	}
}

func TestCheckSaysThatOneRunAnswersEachClaimOfAPaper(t *testing.T) {
	store := filepath.Join(t.TempDir(), "s.db")
	for study, alone := range map[string]bool{"raje-2019": true, "head-to-head": false} {
		r := brokermark(t, "check", study, "--store", store).want(t, 0)
		if says := strings.Contains(strings.Join(strings.Fields(r.out), " "), "one run points to an answer of each claim, and decides none."); says != alone {
			t.Errorf("%s says it: %v, want %v", study, says, alone)
		}
	}
}
