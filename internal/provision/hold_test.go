package provision

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// remains makes a directory as a dead tool leaves it, older than a minute.
func remains(t *testing.T, h *Host, id string, state any) string {
	t.Helper()
	dir := filepath.Join(h.runs(), id)
	ok(t, os.MkdirAll(filepath.Join(dir, "node-1/data"), 0o700))
	f, err := hold(dir)
	ok(t, err)
	f.Close()
	text, isText := state.(string)
	if !isText {
		b, err := json.Marshal(state)
		ok(t, err)
		text = string(b)
	}
	ok(t, os.WriteFile(filepath.Join(dir, stateFile), []byte(text), 0o600))
	long := time.Now().Add(-time.Hour)
	ok(t, os.Chtimes(dir, long, long))
	return dir
}

func TestSweepDeletesNothingThatIsntProvablyOursAndDead(t *testing.T) {
	h := newHost(t)
	gone := identity{PID: 1 << 22, Start: 1}
	dead := State{Form: stateForm, ID: "x", Broker: "testbroker", Owner: gone, Nodes: []nodeState{{Supervisor: gone}}}
	kept, newer := dead, dead
	kept.Keep, newer.Form = true, stateForm+1
	stay := []string{
		remains(t, h, "bm-kept-000001", kept),
		remains(t, h, "bm-newer-000002", newer),
		remains(t, h, "bm-cut-000003", `{"ID": "bm-cut-0`),
		remains(t, h, "bm-empty-000004", ""),
		remains(t, h, "bm-array-000005", "[]"),
	}
	held := remains(t, h, "bm-held-000006", dead) // its tool and supervisors are in another container
	holder, err := hold(held)
	ok(t, err)
	stay = append(stay, held)
	strange := filepath.Join(h.runs(), "bm-strange-000007") // nobody's state, but somebody's file
	ok(t, os.MkdirAll(strange, 0o700))
	ok(t, os.WriteFile(filepath.Join(strange, "notes.txt"), []byte("mine"), 0o600))
	ok(t, os.Chtimes(strange, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)))
	stay = append(stay, strange)
	left := remains(t, h, "bm-left-000008", dead)
	unfinished := filepath.Join(h.runs(), "bm-begun-000009")
	ok(t, os.Mkdir(unfinished, 0o700))
	ok(t, os.Chtimes(unfinished, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)))

	swept := h.sweepRuns()
	slices.Sort(swept)
	if strings.Join(swept, " ") != "bm-begun-000009 bm-left-000008" {
		t.Errorf("swept: %v", swept)
	}
	for _, dir := range stay {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s is gone", filepath.Base(dir))
		}
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a dead tool left is still there")
	}
	holder.Close()
	if swept := h.sweepRuns(); len(swept) != 1 || swept[0] != filepath.Base(held) {
		t.Errorf("after its holder has ended: %v", swept)
	}
}

// The state goes last, so that a removal that is cut off is finished later.
func TestARunningInstanceIsHeldByItsToolAndItsSupervisors(t *testing.T) {
	in := start(t, newHost(t), Options{Nodes: 2})
	dir := in.cluster.dir
	if f := seize(dir); f != nil {
		t.Error("nobody holds the directory of a running instance")
	}
	in.held.Close() // as if the tool had ended
	if f := seize(dir); f != nil {
		t.Error("its supervisors don't hold it")
	}
}

func TestWhatIsCleanedIsHeldByNobody(t *testing.T) {
	h := newHost(t)
	gone := identity{PID: 1 << 22, Start: 1}
	dead := State{Form: stateForm, ID: "x", Broker: "testbroker", Owner: gone}
	remains(t, h, "bm-cut-000001", `{"ID"`)
	holder, err := hold(remains(t, h, "bm-held-000002", dead))
	ok(t, err)
	defer holder.Close()
	remains(t, h, "bm-left-000003", dead)
	list, err := Holdings(h.Dir)
	ok(t, err)
	said := map[string]string{}
	for _, hold := range list {
		said[filepath.Base(hold.Path)] = hold.InUse
	}
	if !strings.Contains(said["bm-cut-000001"], "can't be told") || !strings.Contains(said["bm-held-000002"], "another container") || said["bm-left-000003"] != "" {
		t.Errorf("said: %q", said)
	}
}

func TestADirectoryThatItsMakerDidNotFinishGoesAtOnceUnlessItLives(t *testing.T) {
	h := newHost(t)
	begun := func(id string) string {
		dir := filepath.Join(h.runs(), id)
		ok(t, os.MkdirAll(dir, 0o700))
		return dir
	}
	dead, living, nobodys := begun("bm-dead-000001"), begun("bm-living-000002"), begun("bm-nobodys-000003")
	f, err := hold(dead)
	ok(t, err)
	f.Close()
	f, err = hold(living)
	ok(t, err)
	defer f.Close()
	if swept := h.sweepRuns(); !slices.Equal(swept, []string{filepath.Base(dead)}) {
		t.Errorf("swept %q, want only %s: %s is held, and who made %s may be about to hold it", swept, dead, living, nobodys)
	}
}
