package watch

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
)

var pictures = flag.String("pictures", "", "directory to leave pictures of the page in")

// tab is an open page and everything it complained about or asked others for.
type tab struct {
	ctx      context.Context
	mu       sync.Mutex
	troubles []string
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.troubles = append(b.troubles, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		b.troubles = append(b.troubles, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
	case *log.EventEntryAdded:
		b.troubles = append(b.troubles, "log: "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "http://127.0.0.1:") {
			b.troubles = append(b.troubles, "request: "+url)
		}
	}
}

func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}

// browse opens the page in a headless browser.
func browse(t *testing.T, url string, width int64, scheme string) *tab {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("no Chromium to look at the page with: %v", err)
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(browser), chromedp.UserDataDir(t.TempDir())}
	for _, name := range []string{
		"headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync",
		"disable-dev-shm-usage", "hide-scrollbars",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	b := &tab{ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	timeout, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	err = chromedp.Do(timeout, command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(width, 800),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
		chromedp.Navigate(url), chromedp.WaitReady("main"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// eval runs an expression in the page and waits for a promise.
func eval[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// until waits for the page to say something somewhere.
func until(t *testing.T, b *tab, selector, text string) {
	t.Helper()
	wait := `(async () => {
		let seen = "";
		for (let i = 0; i < 200; i++) {
			seen = document.querySelector(%q).textContent;
			if (seen.includes(%q)) return "";
			await new Promise(r => setTimeout(r, 50));
		}
		return "it says: " + seen;
	})()`
	if missing := eval[string](t, b, fmt.Sprintf(wait, selector, text)); missing != "" {
		t.Errorf("%s never said %q; %s", selector, text, missing)
	}
}

func TestThePageShowsWhatTheRunDoesAsTextWithoutComplaints(t *testing.T) {
	for name, c := range map[string]struct {
		width  int64
		scheme string
	}{"desktop-light": {1280, "light"}, "phone-dark": {390, "dark"}} {
		t.Run(name, func(t *testing.T) {
			w := newWatched()
			s := w.serve(t)
			w.event(lab.Event{Kind: lab.Began, Run: run(1), Total: 3})
			w.ended(1, store.Void)
			w.event(lab.Event{Kind: lab.Began, Run: run(2), Done: 1, Total: 3, Left: 90 * time.Minute})
			w.trial(2, 1000)
			w.f.ticks = curve() // of two minutes, which no test waits for
			b := browse(t, s.URL, c.width, c.scheme)
			until(t, b, "#rate .value", "1k/s")
			for selector, text := range map[string]string{
				"#rate .beside": "of 1k/s · received 1.98k/s", "#backlog .value": "7", "#latency .value": "2 ms", "#latency .beside": "p50 1 ms",
				"#cpu .value": "0.50 + 0.25", "#stage": "fixed load · draining", "#done": "1 of 3 repetitions", "#left": "about 1 h ",
				"#title": "<script>alert(1)</script>", "#endings tbody": "<script>alert(1)</script>", "#rate .top": "up to ",
			} {
				until(t, b, selector, text)
			}
			if drawn := eval[int](t, b, `document.querySelectorAll("svg path").length`); drawn != 8 {
				t.Errorf("%d lines are drawn, want 8", drawn)
			}
			if wide := eval[int](t, b, `document.documentElement.scrollWidth`); int64(wide) > c.width {
				t.Errorf("the page is %d wide on a screen of %d", wide, c.width)
			}
			b.shoot(t, name)
			b.accessible(t)
			w.ended(2, store.OK)
			until(t, b, "#endings tbody tr:first-child", "received 900/s")
			w.f.Finish()
			s.Close()
			until(t, b, "#title", "The run is over.")
			for _, trouble := range b.troubles {
				t.Error(trouble)
			}
		})
	}
}

// accessible runs axe-core, which npm installs beside the report's front end, over the page.
func (b *tab) accessible(t *testing.T) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Log("axe-core isn't installed (make web): accessibility not checked")
		return
	}
	eval[bool](t, b, string(source)+"; true")
	for _, v := range eval[[]string](t, b, `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.target).join(", ")))`) {
		t.Error(v)
	}
}

func curve() []Tick {
	var ticks []Tick
	for i := range 240 {
		f := float64(i%40) / 40
		ticks = append(ticks, Tick{
			AtNs: int64(i-240) * 5e8, Target: 1000, Sent: 1000 - 100*f, Received: 1980 - 300*f, Backlog: int64(200 * f), P50: 1e6, P99: int64(2e6 + 6e6*f),
			BrokerCPU: 0.5 + 0.2*f, GeneratorCPU: 0.25,
		})
	}
	return ticks
}

func (b *tab) shoot(t *testing.T, name string) {
	t.Helper()
	if *pictures == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}
