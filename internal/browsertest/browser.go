// Package browsertest opens pages in a headless Chromium for tests. It knows browsers, and nothing of what is on a page.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/brokermark/brokermark/internal/provision"
)

// The browser that all tests of a package open their pages in; quit ends it.
var (
	started = sync.OnceValues(start)
	quit    = func() {}
)

// Main runs the tests of a package and ends the browser that they shared.
func Main(m *testing.M) {
	m.Run()
	quit()
}

// chromium finds the browser, installing Debian's package where that is possible.
func chromium() (string, error) {
	if path, err := exec.LookPath("chromium"); err == nil {
		return path, nil
	}
	host, err := provision.NewHost(provision.DefaultDir(), nil)
	if err != nil {
		return "", err
	}
	if err := host.Meet(context.Background(), provision.Need{Command: "chromium", Apt: []string{"chromium"}}); err != nil {
		return "", err
	}
	return exec.LookPath("chromium")
}

func start() (context.Context, error) {
	path, err := chromium()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "brokermark-browser-")
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
