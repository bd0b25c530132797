package browsertest

import (
	"context"
	"fmt"
	"os"
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

	"github.com/brokermark/brokermark/internal/testkit"
)

// patience is for one step of the browser.
const patience = time.Minute

// Screen is the screen of a page; sizes are in pixels.
type Screen struct {
	Width, Height int64
	Dark          bool
}

// Tab is an open page and everything it complained about or asked others for. Its methods end the test where the browser
// fails.
type Tab struct {
	ctx      context.Context
	own      string // what the page may load begins with it
	mu       sync.Mutex
	seen     bool // that requests are reported at all
	troubles []string
}

// Open loads url in a tab that closes with the test, and waits for its main part. The page may load what begins with own,
// and what it has in itself.
func Open(t *testing.T, url, own string, s Screen) *Tab {
	t.Helper()
	testkit.Live(t)
	browser, err := started()
	if err != nil {
		t.Fatalf("no Chromium to look at the page with: %v", err)
	}
	ctx, _ := chromedp.NewContext(browser, chromedp.WithNewBrowserContext()) // nothing that another page stored
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Error(err)
		}
	})
	b := &Tab{ctx: ctx, own: own}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	scheme := map[bool]string{true: "dark", false: "light"}[s.Dark]
	b.Do(t, Command(network.Enable, network.EnableParams{}), Command(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(s.Width, s.Height),
		Command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
		chromedp.Navigate(url), chromedp.WaitReady("main"))
	return b
}

// Command is a protocol command as an action.
func Command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}

func (b *Tab) listen(event any) {
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
		b.seen = true
		if url := e.Request.URL; !strings.HasPrefix(url, b.own) && !strings.HasPrefix(url, "data:") {
			b.troubles = append(b.troubles, "request: "+url)
		}
	}
}

// Do carries steps out.
func (b *Tab) Do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// Run carries out an action that has a result.
func Run[T any](t *testing.T, b *Tab, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Eval runs an expression in the page and waits for a promise.
func Eval[T any](t *testing.T, b *Tab, expression string) T {
	t.Helper()
	return Run(t, b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Quiet fails the test where the page complained or asked others for anything.
func (b *Tab) Quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.seen {
		t.Error("the browser reported no request at all, not even for the page")
	}
	for _, trouble := range b.troubles {
		t.Error(trouble)
	}
}

// Shoot saves a picture of the screen.
func (b *Tab) Shoot(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, Run(t, b, chromedp.CaptureScreenshot()), 0o644); err != nil {
		t.Fatal(err)
	}
}
