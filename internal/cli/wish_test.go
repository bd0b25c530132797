package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestAnEmptyLineAnswersAQuestionWithItsDefault(t *testing.T) {
	var w wishes
	w.addFlags(pflag.NewFlagSet("advise", pflag.ContinueOnError))
	if w.said() {
		t.Error("something is said before anything is")
	}
	var shown bytes.Buffer
	if err := w.ask(strings.NewReader("7k\n3x\n\n2\n\n\nnats, redis\n5m\n"), &shown); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"rate": "7k", "peak": "3x", "size": "1KiB", "subscriptions": "2", "delivery": "at-least-once", "persistence": "log", "p99": "100ms",
		"brokers": "nats, redis", "time": "5m", "hold": "10s",
	} {
		if got := w.value(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	wish, limit, err := w.wish()
	if err != nil || wish.Rate != 7000 || wish.Peak != 21_000 || limit.Minutes() != 5 || len(wish.Contenders) != 2 || !wish.Contenders[1].Killable {
		t.Errorf("%+v, %v, %v", wish, limit, err)
	}
	if !strings.Contains(shown.String(), "How high are the peaks? [2x]\n  a broker that carries the mean may fall behind at a peak: ") {
		t.Errorf("asked:\n%s", shown.String())
	}
	if err := w.ask(strings.NewReader("7k\n"), &shown); codeOf(err) != exitInput {
		t.Errorf("with an end of the input: %v", err)
	}
}
