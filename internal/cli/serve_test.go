package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/cli"
)

// serving runs serve until the test ends and returns where it listens.
func serving(t *testing.T, path string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, write := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Main(ctx, []string{"serve", "--listen", "0", "--store", path}, strings.NewReader(""), write, new(bytes.Buffer))
		_ = write.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if c := <-code; c != 0 {
			t.Errorf("serve ended with %d", c)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`is shown at (http://127\.0\.0\.1:\d+)/ until Ctrl-C\n$`).FindStringSubmatch(line)
	if err != nil || m == nil {
		t.Fatalf("serve says %q: %v", line, err)
	}
	return m[1]
}

func page(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestBadInputToServeIsSaidBeforeItListens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	stored(t, path)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		code       int
		store      string
		listen     string
		want, hint string
	}{
		{6, path + ".none", "0", "store " + path + ".none does not exist: run a study first", ""},
		{6, filepath.Dir(path), "0", "store " + filepath.Dir(path) + " is a directory", ""},
		{2, path, "x", `--listen: "x" is no address; allowed: HOST:PORT or PORT`, ""},
		{2, path, "70000", `--listen: "70000" is no address`, ""},
		{2, path, "0.0.0.0:0", "--listen 0.0.0.0:0: the store is shown to this machine only", "hint: for another machine: ssh -L"},
		{2, path, "192.0.2.1:0", "--listen 192.0.2.1:0: the store is shown to this machine only", "hint: "},
		{2, path, taken.Addr().String(), "--listen: can't listen at " + taken.Addr().String() + ": ", "hint: another port, or 0"},
	} {
		r := brokermark(t, "serve", "--store", c.store, "--listen", c.listen).want(t, c.code)
		complains(t, r, c.want)
		if !strings.Contains(r.err, c.hint) {
			t.Errorf("no %q in:\n%s", c.hint, r.err)
		}
	}
	complains(t, brokermark(t, "serve", path).want(t, 2), `unknown command`)
}

func TestAServedReportIsThePageThatReportWrites(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "s.db"), filepath.Join(dir, "r.html")
	stored(t, path)
	url := serving(t, path)
	// What was typed to make a page stands in its last lines.
	made := regexp.MustCompile(`<p>Made with <code>[^<]*</code>\.</p>`)
	for of, args := range map[string][]string{
		"/report":                      {"report"},
		"/report?where=broker=kafka":   {"report", "--where", "broker=kafka"},
		"/report?name=headtohead":      {"report", "headtohead"},
		"/compare?a=kafka&b=jetstream": {"compare", "kafka", "jetstream"},
		"/compare?a=client.linger.ms=0&b=client.linger.ms=5&where=broker=kafka": {"compare", "client.linger.ms=0", "client.linger.ms=5", "--where", "broker=kafka"},
	} {
		brokermark(t, append(args, "--store", path, "-o", file)...).want(t, 0)
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code, got := page(t, url+of)
		if code != 200 || made.ReplaceAllString(got, "") != made.ReplaceAllString(string(want), "") {
			t.Errorf("%s: %d, %d bytes, and %v writes %d", of, code, len(got), args, len(want))
		}
		if command := made.FindString(got); !strings.Contains(command, "brokermark "+strings.Join(args[:1], " ")) || !strings.Contains(command, "--store "+path) {
			t.Errorf("%s was made with %q", of, command)
		}
	}
}

func TestOnlyThisMachinesOwnPagesReadAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	stored(t, path)
	url := serving(t, path)
	for name, edit := range map[string]func(*http.Request){
		"a name that was pointed here": func(r *http.Request) { r.Host = "evil.example" },
		"a page of another site":       func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/report", nil)
		if err != nil {
			t.Fatal(err)
		}
		edit(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}
}

func TestARunUnderWayIsFoundFromItsStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	stored(t, path)
	url := serving(t, path)
	if _, body := page(t, url); strings.Contains(body, "Running now") {
		t.Error("nothing runs, and the page says so otherwise")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	stderr, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := []string{"run", "--broker", "sim", "--rate", "1000", "--duration", "60s", "--watch", "0", "--store", path, "--format", "jsonl"}
		ended <- cli.Main(ctx, args, strings.NewReader(""), new(bytes.Buffer), write)
		_ = write.Close()
	}()
	watched := ""
	lines := bufio.NewScanner(stderr)
	for watched == "" && lines.Scan() {
		_, watched, _ = strings.Cut(lines.Text(), "watch the run at ")
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	seen := ""
	until(t, "the run is on the list", func() bool {
		_, seen = page(t, url)
		return strings.Contains(seen, "1 repetition under way") && strings.Contains(seen, watched)
	})
	if watched == "" || !strings.Contains(seen, `<a href="`+watched+`">`) {
		t.Errorf("no link to %q in:\n%s", watched, seen)
	}
	cancel()
	if c := <-ended; c != 130 {
		t.Errorf("the run ended with %d", c)
	}
	if _, body := page(t, url); strings.Contains(body, "Running now") {
		t.Errorf("the run is over:\n%s", body)
	}
}
