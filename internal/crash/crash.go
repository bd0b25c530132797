// Package crash runs the program as a process that another process of it waits for. When a goroutine panics, even one of a client library,
// which can't be recovered, the waiting process has the dump and the state of the run. It does not know what the program does.
package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// watchedArg is the first argument of the process that does the work.
const watchedArg = "__watched"

// The files that the watched process is given. Its file 2 is a pipe, because Go's runtime writes its dump there.
const (
	fileErr     = 3 // stderr
	fileSignals = 4 // a byte for each signal that is passed on
	fileNotes   = 5
)

// note is a line from the watched process: what is under way by its kind, or that the program ends as it should.
type note struct {
	Kind string          `json:",omitempty"`
	What json.RawMessage `json:",omitempty"`
	Ends bool            `json:",omitempty"`
}

// Ending is how the watched process ended.
type Ending struct {
	Code   int                        // its exit code; -1 where a signal killed it
	Signal syscall.Signal             // that killed it; 0: none
	Dump   string                     // of Go's runtime, which gave up; usually empty
	Notes  map[string]json.RawMessage // state of the run
	Meant  bool                       // the program ended itself; otherwise it was killed, or a library ended it
}

// Watch runs this executable with args, and returns when that process has ended. An error means that it didn't start.
// The signals that end a program go to the process: it does not receive a terminal's Ctrl-C twice. If the caller is killed,
// the process dies.
func Watch(args []string) (Ending, error) {
	runtime.LockOSThread() // the process dies with this thread
	defer runtime.UnlockOSThread()
	dumpR, dumpW, err := os.Pipe()
	if err != nil {
		return Ending{}, err
	}
	signalsR, signalsW, err := os.Pipe()
	if err != nil {
		return Ending{}, err
	}
	defer signalsW.Close()
	notesR, notesW, err := os.Pipe()
	if err != nil {
		return Ending{}, err
	}
	self, err := executable()
	if err != nil {
		return Ending{}, err
	}
	c := &exec.Cmd{
		Path: self, Args: append([]string{"brokermark", watchedArg}, args...),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: dumpW, ExtraFiles: []*os.File{os.Stderr, signalsR, notesW},
		SysProcAttr: diesWithCaller(),
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, append(Signals(), syscall.SIGQUIT, syscall.SIGABRT)...)
	defer signal.Stop(signals)
	err = c.Start()
	for _, f := range []*os.File{dumpW, signalsR, notesW} {
		f.Close()
	}
	if err != nil {
		return Ending{}, err
	}
	go passOn(signals, signalsW, c.Process)
	return await(c, dumpR, notesR), nil
}

// Signals are those by which a program is asked to end: of a terminal that closes unless nohup made the program ignore it.
func Signals() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}

// await reads the notes of the process until it has ended.
func await(c *exec.Cmd, dump, notes io.Reader) Ending {
	e := Ending{Notes: map[string]json.RawMessage{}}
	var readers sync.WaitGroup
	readers.Go(func() { e.Dump = sift(dump, os.Stderr) })
	readers.Go(func() { e.read(notes) })
	readers.Wait()
	_ = c.Wait() // whose error is the exit code
	e.Code = c.ProcessState.ExitCode()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}

func (e *Ending) read(notes io.Reader) {
	lines := bufio.NewReader(notes)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil { // a line without its end was cut off by the crash
			return
		}
		var n note
		switch {
		case json.Unmarshal(line, &n) != nil:
		case n.Ends:
			e.Meant = true
		case n.What == nil:
			delete(e.Notes, n.Kind)
		default:
			e.Notes[n.Kind] = n.What
		}
	}
}

// passOn tells the process of signals. It catches those of the terminal itself and leaves them alone, because a second
// one would end it at once.
func passOn(signals <-chan os.Signal, to io.Writer, p *os.Process) {
	for s := range signals {
		switch s {
		case syscall.SIGQUIT, syscall.SIGABRT: // it is to die with a dump
			_ = p.Signal(s)
		default:
			_, _ = to.Write([]byte{byte(s.(syscall.Signal))})
		}
	}
}

// maxDump bounds what is kept of a dump, in bytes: the panic and its goroutine come first.
const maxDump = 4 << 20

// begins is how a dump of Go's runtime begins. It may have lines before, as libraries write them, too.
var (
	begins = regexp.MustCompile(`^(panic: |fatal error: |unexpected fault address|SIG[A-Z0-9]+: )`)
	before = regexp.MustCompile(`^(fatal: |runtime: )`)
)

// sift passes on what is no dump as it comes, such as a library's own log lines, and returns the dump, which is the
// last that a process writes. Lines that may come before a dump are kept until the next one tells.
func sift(from io.Reader, to io.Writer) string {
	lines := bufio.NewReader(from)
	var dump strings.Builder
	for begun := false; ; {
		line, err := lines.ReadSlice('\n') // long lines come in pieces
		begun = begun || begins.Match(line)
		switch room := maxDump - dump.Len(); {
		case !begun && !before.Match(line) && len(line) > 0:
			_, _ = io.WriteString(to, dump.String())
			dump.Reset()
			_, _ = to.Write(line)
		case room > 0:
			dump.Write(line[:min(len(line), room)])
		}
		if err != nil && err != bufio.ErrBufferFull {
			if dump.Len() == maxDump {
				fmt.Fprintf(&dump, "\n… cut off after %d bytes\n", maxDump)
			}
			return dump.String()
		}
	}
}
