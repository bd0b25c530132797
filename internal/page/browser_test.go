package page_test

import (
	"context"
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

	"github.com/brokermark/brokermark/internal/provision"
)

// chromium finds the browser, installing Debian's package where that is possible.
var chromium = sync.OnceValues(func() (string, error) {
	if path, err := exec.LookPath("chromium"); err == nil {
		return path, nil
	}
	install := provision.Install{Log: func(string, ...any) {}}
	if err := install.Apt(context.Background(), "chromium"); err != nil {
		return "", err
	}
	return exec.LookPath("chromium")
})

// tab is an open page and everything it complained about or asked the network for.
type tab struct {
	ctx      context.Context
	mu       sync.Mutex
	seen     bool // that requests are reported at all
	troubles []string
}

type screen struct {
	width, height int64
	dark          bool
}

var desktop = screen{width: 1280, height: 900}

// started is the browser that all tests open their pages in; quit ends it.
var (
	started = sync.OnceValues(start)
	quit    = func() {}
)

func start() (context.Context, error) {
	path, err := chromium()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "brokermark-page-")
	if err != nil {
		return nil, err
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(dir)}
	for _, flag := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update",
		"disable-sync", "disable-dev-shm-usage", "hide-scrollbars",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, release := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	quit = func() {
		_ = chromedp.Cancel(ctx)
		release()
		_ = os.RemoveAll(dir)
	}
	return ctx, chromedp.Do(ctx)
}

func TestMain(m *testing.M) {
	code := m.Run()
	quit()
	os.Exit(code)
}

// open loads a file in a page of its own.
func open(t *testing.T, path string, s screen) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long, and it is not our code that runs in it")
	}
	browser, err := started()
	if err != nil {
		t.Skipf("no Chromium to look at the page with: %v", err)
	}
	ctx, _ := chromedp.NewContext(browser, chromedp.WithNewBrowserContext()) // nothing that another page stored
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Error(err)
		}
	})
	b := &tab{ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	scheme := map[bool]string{true: "dark", false: "light"}[s.dark]
	b.do(t, command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(s.width, s.height),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
		chromedp.Navigate("file://"+path), chromedp.WaitReady("main"))
	return b
}

// command is a protocol command as an action.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
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
		b.seen = true
		if url := e.Request.URL; !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") {
			b.troubles = append(b.troubles, "request: "+url)
		}
	}
}

func (b *tab) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// eval runs an expression in the page.
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

// scroll goes down the whole page, so that every chart is drawn.
func (b *tab) scroll(t *testing.T) {
	t.Helper()
	eval[bool](t, b, `(async () => {
		document.documentElement.style.scrollBehavior = "auto";
		for (let y = 0; y < document.body.scrollHeight; y += 500) { scrollTo(0, y); await new Promise(r => setTimeout(r, 25)); }
		scrollTo(0, 0);
		await new Promise(r => setTimeout(r, 100));
		return true;
	})()`)
}

// quiet fails the test if the page complained or asked for anything.
func (b *tab) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.seen {
		t.Error("the browser reported no request at all, not even for the file")
	}
	for _, trouble := range b.troubles {
		t.Error(trouble)
	}
}

// shoot leaves a picture of the whole page beside the pages that -pages keeps.
func (b *tab) shoot(t *testing.T, name string, width int64) {
	t.Helper()
	height := eval[int64](t, b, `document.documentElement.scrollHeight`)
	b.do(t, chromedp.EmulateViewport(width, height))
	eval[bool](t, b, `new Promise(r => setTimeout(() => r(true), 500))`)
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*keep, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}
