package page_test

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/testkit"
)

var desktop = browsertest.Screen{Width: 1280, Height: 900}

func TestMain(m *testing.M) { browsertest.Main(m) }

// open loads a file in a page of its own, which may ask the network for nothing.
func open(t *testing.T, path string, s browsertest.Screen) *browsertest.Tab {
	t.Helper()
	testkit.NotShort(t) // it is not our code that runs in a browser
	return browsertest.Open(t, "file://"+path, "file://", s)
}

// scroll goes down the whole page, so that every chart is drawn.
func scroll(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	browsertest.Eval[bool](t, b, `(async () => {
		document.documentElement.style.scrollBehavior = "auto";
		const frame = () => new Promise(r => requestAnimationFrame(() => setTimeout(r)));
		for (let y = 0; y < document.body.scrollHeight; y += 500) { scrollTo(0, y); await frame(); await frame(); }
		const missing = () => [...document.querySelectorAll(".chart")].some(c => c.clientWidth && !c.querySelector("svg"));
		for (const end = Date.now() + 20000; missing() && Date.now() < end;) await frame();
		scrollTo(0, 0);
		await frame();
		return true;
	})()`)
}

// shoot leaves a picture of the whole page beside the pages that -pages keeps.
func shoot(t *testing.T, b *browsertest.Tab, name string, width int64) {
	t.Helper()
	b.Do(t, chromedp.EmulateViewport(width, browsertest.Eval[int64](t, b, `document.documentElement.scrollHeight`)))
	browsertest.Eval[bool](t, b, `new Promise(r => setTimeout(() => r(true), 500))`)
	b.Shoot(t, filepath.Join(*keep, name+".png"))
}
