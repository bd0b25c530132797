package page_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/brokermark/brokermark/internal/browsertest"
)

func TestSeriesAxesAndThemeCanBeSwitched(t *testing.T) {
	b := open(t, summary(t, "mixed", sweep(5)), desktop)
	scroll(t, b)
	const lines = `document.querySelectorAll("#throughput .chart svg path[fill=none]").length`
	before := browsertest.Eval[int](t, b, lines)
	b.Do(t, chromedp.ScrollIntoView("#throughput .legend .series"), chromedp.Click("#throughput .legend .series"))
	if pressed := browsertest.Eval[string](t, b, `document.querySelector("#throughput .legend .series").getAttribute("aria-pressed")`); pressed != "false" {
		t.Errorf("after a click aria-pressed is %q", pressed)
	}
	if after := browsertest.Eval[int](t, b, lines); after >= before {
		t.Errorf("%d lines before the series was hidden, %d after", before, after)
	}
	b.Do(t, chromedp.Focus("#throughput .legend .series"), chromedp.KeyEvent(kb.Enter))
	if after := browsertest.Eval[int](t, b, lines); after != before {
		t.Errorf("%d lines before, %d after the keyboard showed the series again", before, after)
	}
	labels := func() string {
		return browsertest.Eval[string](t, b, `[...document.querySelectorAll("#throughput .chart svg text")].map(e => e.textContent).join(" ")`)
	}
	logarithmic := labels()
	browsertest.Eval[bool](t, b, `(() => { const s = [...document.querySelectorAll("#throughput select")].filter(s => s.value === "log")[0]; s.value = "linear"; s.dispatchEvent(new Event("change")); return true; })()`)
	if linear := labels(); linear == logarithmic {
		t.Errorf("a linear axis has the labels of the logarithmic one: %s", linear)
	}
	background := func() string {
		return browsertest.Eval[string](t, b, `getComputedStyle(document.body).backgroundColor`)
	}
	light := background()
	b.Do(t, chromedp.Focus("#theme"), chromedp.KeyEvent(kb.Enter))
	const swatch = `document.querySelector("#throughput .legend svg path").getAttribute("stroke")`
	if dark := background(); dark == light {
		t.Errorf("the theme button leaves the background %s", dark)
	}
	strokes := browsertest.Eval[[]string](t, b, `[...document.querySelectorAll("#throughput .chart svg path[fill=none]")].map(p => p.getAttribute("stroke"))`)
	if key := browsertest.Eval[string](t, b, swatch); !slices.Contains(strokes, key) {
		t.Errorf("in the dark the lines are %s, the first key %s", strokes, key)
	}
	if !browsertest.Eval[bool](t, b, `(() => { scrollTo(0, 0); const r = document.getElementById("theme").getBoundingClientRect();
		return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).id === "theme"; })()`) {
		t.Error("something covers the theme button")
	}
	b.Quiet(t)
}

func TestASweepCanBeTurned(t *testing.T) {
	b := open(t, summary(t, "settings", linger(6, 5, 3)), desktop)
	set := func(label, value string) {
		t.Helper()
		found := browsertest.Eval[bool](t, b, `(() => { const l = [...document.querySelectorAll("#sweeps label")].find(l => l.innerText.startsWith("`+label+`"));
			if (!l) return false; const s = l.querySelector("select"); s.value = "`+value+`"; s.dispatchEvent(new Event("change")); return s.value === "`+value+`"; })()`)
		if !found {
			t.Fatalf("no choice %q for %q", value, label)
		}
	}
	tables := func() int {
		return browsertest.Eval[int](t, b, `document.querySelectorAll("#sweeps table.heat").length`)
	}
	cells := func() int {
		return browsertest.Eval[int](t, b, `document.querySelectorAll("#sweeps table.heat td").length`)
	}
	set("client.linger.ms", "row")
	set("client.batch.size", "column")
	if tables() != 1 || cells() != 30 {
		t.Errorf("%d tables with %d cells, want 1 with 6 × 5", tables(), cells())
	}
	set("client.batch.size", "table")
	if tables() != 5 {
		t.Errorf("%d tables, want one for each of 5 sizes", tables())
	}
	set("client.batch.size", "=0")
	if tables() != 1 || cells() != 6 {
		t.Errorf("%d tables with %d cells, want 1 with 6", tables(), cells())
	}
	set("client.linger.ms", "column")
	set("client.batch.size", "colour")
	set("As", "lines")
	if n := browsertest.Eval[int](t, b, `document.querySelectorAll("#sweeps .legend button.series").length`); n != 5 {
		t.Errorf("%d colours, want 5", n)
	}
	set("client.batch.size", "row")
	if n := browsertest.Eval[int](t, b, `document.querySelectorAll("#sweeps .legend button.series").length`); n != 5 {
		t.Errorf("%d of 5 lines have a key", n)
	}
	set("client.batch.size", "colour")
	scroll(t, b)
	if n := browsertest.Eval[int](t, b, `document.querySelectorAll("#sweeps .chart svg").length`); n != 1 {
		t.Errorf("%d charts, want 1", n)
	}
	b.Quiet(t)
}

func TestHoverShowsCountAndSpread(t *testing.T) {
	b := open(t, summary(t, "mixed", sweep(5)), desktop)
	scroll(t, b)
	b.Do(t, chromedp.ScrollIntoView("#throughput .chart"))
	// Every symbol is tried: lines and whiskers lie among them.
	texts := browsertest.Eval[[]string](t, b, `(async () => {
		const out = [];
		for (const p of [...document.querySelectorAll("#throughput .chart svg path")].slice(-40)) {
			const r = p.getBoundingClientRect();
			const at = { bubbles: true, clientX: r.x + r.width / 2, clientY: r.y + r.height / 2 };
			p.dispatchEvent(new MouseEvent("mousemove", at));
			await new Promise(r => setTimeout(r, 30));
			const tip = document.querySelector("#throughput .tip");
			if (tip) out.push(tip.innerText);
		}
		return out;
	})()`)
	if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "n = 5") && strings.Contains(s, "[") }) {
		t.Errorf("no hover shows count and spread: %q", texts)
	}
	b.Quiet(t)
}

// problems are what would stop somebody without mouse or sight.
const problems = `(() => {
	const out = [];
	const visible = e => e.getClientRects().length > 0;
	for (const l of ["header", "main", "footer", "nav[aria-label]"]) if (document.querySelectorAll(l).length !== 1) out.push("landmark " + l);
	if (document.documentElement.lang !== "en") out.push("no language");
	for (const th of document.querySelectorAll("main table th")) if (!th.closest(".tip") && !th.scope) out.push("th without scope: " + th.textContent);
	for (const s of document.querySelectorAll("select, input")) if (!s.closest("label") || !s.closest("label").innerText.trim() && visible(s)) out.push("control without label");
	for (const b of document.querySelectorAll("button")) if (!(b.textContent.trim() || b.getAttribute("aria-label"))) out.push("button without name");
	for (const c of document.querySelectorAll(".chart")) if (c.getAttribute("role") !== "img" || !(c.getAttribute("aria-label") || "").trim()) out.push("chart without text");
	for (const s of document.querySelectorAll(".scroll")) if (s.tabIndex !== 0 || !s.getAttribute("aria-label")) out.push("region that can't be scrolled with the keyboard");
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) out.push("id twice: " + id);
	for (const a of document.querySelectorAll("a[href^='#']")) if (!document.getElementById(a.getAttribute("href").slice(1))) out.push("link to nothing: " + a.getAttribute("href"));
	for (const a of document.querySelectorAll("a[href]")) if (!a.getAttribute("href").startsWith("#")) out.push("link out of the page: " + a.getAttribute("href"));
	let level = 0;
	for (const h of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) { const n = Number(h.tagName[1]); if (n > level + 1) out.push("heading skips a level: " + h.textContent); level = n; }
	return out;
})()`

func TestThePageCanBeUsedWithoutMouseOrSight(t *testing.T) {
	for name, path := range map[string]string{"mixed": summary(t, "mixed", sweep(5)), "settings": summary(t, "settings", linger(6, 5, 3)), "compare": comparison(t)} {
		b := open(t, path, desktop)
		scroll(t, b)
		for _, problem := range browsertest.Eval[[]string](t, b, problems) {
			t.Errorf("%s: %s", name, problem)
		}
		// Tab reaches the skip link first, and what has the focus shows it.
		b.Do(t, chromedp.KeyEvent(kb.Tab))
		if got := browsertest.Eval[string](t, b, `document.activeElement.className + " " + getComputedStyle(document.activeElement).outlineStyle`); got != "skip solid" {
			t.Errorf("%s: the first Tab reaches %q", name, got)
		}
	}
}

func TestAPhoneScrollsDownOnly(t *testing.T) {
	for name, path := range map[string]string{"mixed": summary(t, "mixed", sweep(5)), "settings": summary(t, "settings", linger(6, 5, 3)), "hostile": summary(t, "hostile", hostile())} {
		b := open(t, path, browsertest.Screen{Width: 390, Height: 844})
		scroll(t, b)
		if width := browsertest.Eval[int](t, b, `document.documentElement.scrollWidth`); width > 390 {
			t.Errorf("%s: the page is %d pixels wide on a screen of 390", name, width)
		}
		b.Quiet(t)
	}
}

func TestPaperHoldsEveryChart(t *testing.T) {
	b := open(t, summary(t, "mixed", sweep(5)), browsertest.Screen{Width: 1280, Height: 900, Dark: true})
	paper := browsertest.Run(t, b, chromedp.PrintToPDF())
	if !strings.HasPrefix(string(paper), "%PDF") {
		t.Error("printing gives no PDF")
	}
	if *keep != "" {
		if err := os.WriteFile(filepath.Join(*keep, "mixed.pdf"), paper, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Nothing was scrolled: printing alone has to draw the charts below the fold.
	if n := browsertest.Eval[int](t, b, `[...document.querySelectorAll(".chart")].filter(c => !c.querySelector("svg")).length`); n != 0 {
		t.Errorf("%d charts were not drawn for paper", n)
	}
	// Paper has no controls: what was chosen stands there as a sentence.
	b.Do(t, browsertest.Command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
	for id, want := range map[string]string{"throughput": "e2e p99 against messages per second that came through, 100 B", "percentiles": "100 B, at-least-once, sustainable"} {
		if text := browsertest.Eval[string](t, b, `document.getElementById("`+id+`").innerText`); !strings.Contains(text, want) {
			t.Errorf("on paper %s doesn't say %q", id, want)
		}
	}
	if theme := browsertest.Eval[string](t, b, `document.documentElement.dataset.theme ?? ""`); theme != "" {
		t.Errorf("after printing the theme is %q", theme)
	}
	b.Quiet(t)
}

func TestOneOfThousandsOfSeriesCanBeFound(t *testing.T) {
	b := open(t, summary(t, "many", linger(20, 5, 1)), desktop)
	scroll(t, b)
	const names = `[...document.querySelectorAll("#percentiles .legend .series")].map(b => b.dataset.name)`
	if n := len(browsertest.Eval[[]string](t, b, names)); n != 40 {
		t.Errorf("%d buttons for 100 series, want 40 and a search", n)
	}
	b.Do(t, chromedp.Focus("#percentiles .legend input"), chromedp.KeyEvent("ms=17 8K"))
	if got := browsertest.Eval[[]string](t, b, names); len(got) != 1 || !strings.Contains(got[0], "linger.ms=17") || !strings.Contains(got[0], "8KiB") {
		t.Errorf("the search finds %q", got)
	}
	const lines = `document.querySelectorAll("#percentiles .chart svg path[fill=none]").length`
	before := browsertest.Eval[int](t, b, lines)
	b.Do(t, chromedp.KeyEvent(kb.Tab+kb.Tab+kb.Tab+kb.Enter))
	if after := browsertest.Eval[int](t, b, lines); after <= before {
		t.Errorf("%d lines before the series that was found was shown, %d after", before, after)
	}
	b.Quiet(t)
}

// A latency between two clocks has its bound beside it everywhere, which is long. It takes lines, and no room from the bars.
func TestTheBoundOfClocksLeavesItsBarInThePage(t *testing.T) {
	records := sweep(3)
	for i := range records {
		if r := records[i].Result; r != nil {
			r.ClockBoundNs = 3e6
			for k := range r.Curve {
				r.Curve[k].ClockBoundNs = 3e6
			}
		}
	}
	path := summary(t, "clocks", records)
	for _, screen := range []browsertest.Screen{desktop, {Width: 390, Height: 844}} {
		b := open(t, path, screen)
		bounded := browsertest.Eval[int](t, b, `[...document.querySelectorAll(".glance .bar-value")].filter(v => v.textContent.includes("[")).length`)
		if bounded == 0 {
			t.Fatal("no bar has a bound")
		}
		for _, problem := range browsertest.Eval[[]string](t, b, `[...document.querySelectorAll(".glance")].filter(g => g.clientWidth).flatMap(g => {
			const width = (e) => Math.round(e.getBoundingClientRect().width), tracks = [...g.querySelectorAll(".bar-track")].map(width);
			const cut = [...g.querySelectorAll(".bar-value")].filter(v => v.scrollWidth > v.clientWidth || v.getBoundingClientRect().right > g.getBoundingClientRect().right);
			return [...(Math.min(...tracks) < 30 || Math.max(...tracks) - Math.min(...tracks) > 1 ? ["bars have " + tracks + " pixels"] : []), ...cut.map(v => v.textContent + " is cut off")];
		})`) {
			t.Errorf("%d pixels: %s", screen.Width, problem)
		}
	}
}
