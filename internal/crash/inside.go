package crash

import (
	"encoding/json"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Inside is the watched process's own side. All methods do nothing on nil, where no one watches.
type Inside struct {
	Signals <-chan os.Signal // what ends the program: a terminal's Ctrl-C comes once

	mu    sync.Mutex
	notes *os.File
}

// Enter reports whether this process is a watched one, and its arguments without the mark. From then on os.Stderr is what the
// user sees.
func Enter(args []string) (*Inside, []string) {
	if len(args) == 0 || args[0] != watchedArg {
		return nil, args
	}
	for _, fd := range []int{fileErr, fileSignals, fileNotes} {
		syscall.CloseOnExec(fd)
	}
	os.Stderr = os.NewFile(fileErr, "/dev/stderr")
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, Signals()...) // ignored ones would be ignored by every broker as well
	go func() {
		for range caught {
		}
	}()
	signals := make(chan os.Signal, 8)
	go receive(os.NewFile(fileSignals, "signals"), signals)
	return &Inside{Signals: signals, notes: os.NewFile(fileNotes, "notes")}, args[1:]
}

// receive turns bytes back into signals. The end of the pipe means that the watching process was killed, and this process then
// dies in the same way.
func receive(from *os.File, to chan<- os.Signal) {
	for b := make([]byte, 1); ; {
		if n, err := from.Read(b); n == 0 || err != nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			return
		}
		to <- syscall.Signal(b[0])
	}
}

// Note says what is under way, in place of what was said of its kind before; nil: nothing. It may be called by several
// goroutines.
func (i *Inside) Note(kind string, what any) {
	if i == nil {
		return
	}
	n := note{Kind: kind}
	if what != nil {
		text, err := json.Marshal(what)
		if err != nil {
			return
		}
		n.What = text
	}
	i.write(n)
}

// End says that the program is about to end by itself.
func (i *Inside) End() {
	if i != nil {
		i.write(note{Ends: true})
	}
}

func (i *Inside) write(n note) {
	line, err := json.Marshal(n)
	if err != nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	_, _ = i.notes.Write(append(line, '\n'))
}
