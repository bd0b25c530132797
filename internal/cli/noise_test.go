package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatClientsSayGoesToTheLogFileOnly(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "clients.log")
	r := brokermark(t, "run", "--broker", "jetstream", "--measure", "rate", "--rate", "200", "--duration", "2s", "--set", "warmup=0s",
		"--set", "faults=[{at: 500ms, do: restart}]", "--log", log, "--store", filepath.Join(dir, "s.db"), "--format", "jsonl")
	if list := r.objects(t); len(list) != 1 || list[0]["received"] == nil {
		t.Fatalf("nothing was measured: %s%s", r.out, r.err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "disconnected") {
		t.Errorf("the clients said nothing of the restart: %s", text)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if _, said, ok := strings.Cut(line, "nats: "); ok && strings.Contains(r.out+r.err, said) {
			t.Errorf("%q is on the terminal, too", said)
		}
	}
}
