package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/brokermark/brokermark/internal/cli"
)

func TestARunInProgressIsScrapedAndWatchedUntilItEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	stderr, write := io.Pipe()
	code := make(chan int, 1)
	go func() {
		args := []string{
			"run", "--broker", "sim", "--rate", "1000", "--duration", "60s", "--metrics", "0", "--watch", "0",
			"--store", filepath.Join(t.TempDir(), "s.db"), "--format", "jsonl",
		}
		code <- cli.Main(ctx, args, strings.NewReader(""), new(bytes.Buffer), write)
		_ = write.Close()
	}()
	address := map[string]string{}
	lines := bufio.NewScanner(stderr)
	for len(address) < 2 && lines.Scan() {
		if m := regexp.MustCompile(`^(watch the run|metrics) at (http://127\.0\.0\.1:\d+/\w*)$`).FindStringSubmatch(lines.Text()); m != nil {
			address[m[1]] = m[2]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	sent := 0.0
	for ctx.Err() == nil && sent == 0 {
		sent = scraped(t, address["metrics"], "messaging_client_sent_messages_total")
	}
	if sent == 0 {
		t.Errorf("no messages were seen at %v", address)
	}
	page, err := http.Get(address["watch the run"])
	if err != nil || page.StatusCode != http.StatusOK {
		t.Fatalf("page: %v, %v", page, err)
	}
	_ = page.Body.Close()
	cancel()
	if c := <-code; c != 130 {
		t.Errorf("exit code %d, want 130", c)
	}
	if _, err := http.Get(address["metrics"]); err == nil {
		t.Error("metrics are served after the run")
	}
}

// scraped is the value of a counter, 0 while there is none.
func scraped(t *testing.T, url, name string) float64 {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if list := families[name].GetMetric(); len(list) > 0 {
		return list[0].GetCounter().GetValue()
	}
	return 0
}
