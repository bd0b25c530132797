package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/watch"
)

// progress shows a run on stderr: one plain line per finished repetition, and below them, on a terminal only, a few
// lines that are redrawn. Its methods may be called from several goroutines.
type progress struct {
	mu      sync.Mutex
	out     io.Writer
	size    func() int // columns; nil where out is no terminal
	now     watch.Follower
	quiet   bool // figures of repetitions that end ok are no results
	several bool // there are several studies, whose points may look alike
	over    bool // nothing is drawn any more
	drawn   int  // lines on the screen to be redrawn
	stop    chan struct{}
	done    sync.WaitGroup
}

const (
	redraw     = 250 * time.Millisecond
	widestLive = 100 // columns; longer lines are harder to read, not more telling
)

// newProgress begins to watch a run.
func newProgress(out io.Writer) *progress {
	p := &progress{out: out, stop: make(chan struct{})}
	p.now.Outcome = outcome
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return p
	}
	p.size = func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 20 {
			width = 80
		}
		return min(width, widestLive)
	}
	p.done.Go(p.animate)
	return p
}

func (p *progress) animate() {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.mu.Lock()
			p.erase()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// close removes the live lines. It may be called again.
func (p *progress) close() {
	p.mu.Lock()
	if !p.over {
		p.over = true
		close(p.stop)
		p.erase()
	}
	p.mu.Unlock()
	p.done.Wait()
}

// say prints a line that stays.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(secret.Redact(fmt.Sprintf(format, args...)))
}

// Write puts whole lines on the terminal as they are.
func (p *progress) Write(lines []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	n, err := p.out.Write(lines)
	p.draw()
	return n, err
}

// note says what goes on below the stage, such as a step of an installation; it is only seen live.
func (p *progress) note(format string, args ...any) {
	p.now.Note(fmt.Sprintf(format, args...))
}

// event follows the lab.
func (p *progress) event(e lab.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Event(e)
	switch e.Kind {
	case lab.Skipped:
		whose := " (stored before)"
		if e.Shared {
			whose = " (by another runner)"
		}
		if e.Record != nil {
			p.print(finished(e, p.several) + whose)
		}
	case lab.Ended:
		if !p.quiet || e.Record.Status != store.OK {
			p.print(finished(e, p.several))
		}
	}
}

func (p *progress) print(line string) {
	line = render.CleanLines(line) // a reason may quote a broker or an agent
	p.erase()
	if p.size != nil {
		line = folded(line, p.size())
	}
	fmt.Fprintln(p.out, line)
	p.draw()
}

// indent is where a line that was too long goes on.
const indent = "      "

// folded breaks a line that is too long for the screen: between two figures if it can, else between two words.
func folded(line string, width int) string {
	if runewidth.StringWidth(line) <= width {
		return line
	}
	room := runewidth.Truncate(line, width+1, "")
	at := strings.LastIndex(strings.TrimRight(room, " "), "  ")
	if at <= len(indent) {
		at = strings.LastIndexByte(room, ' ')
	}
	if at <= len(indent) {
		return line // one long word
	}
	return strings.TrimRight(line[:at], " ") + "\n" + folded(indent+strings.TrimLeft(line[at:], " "), width)
}

func (p *progress) erase() {
	if p.drawn > 0 {
		fmt.Fprintf(p.out, "\x1b[%dA\r\x1b[J", p.drawn)
		p.drawn = 0
	}
}

func (p *progress) draw() {
	if p.size == nil || p.over {
		return
	}
	width := p.size()
	var b strings.Builder
	for _, line := range lines(p.now.View(time.Now()), width-1) {
		b.WriteString(runewidth.Truncate(render.CleanLines(line), width-1, "…") + "\n")
		p.drawn++
	}
	_, _ = io.WriteString(p.out, b.String())
}
