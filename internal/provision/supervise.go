package provision

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// job is the first line of a supervisor's standard input.
type job struct {
	Path    string
	Args    []string
	Env     []string
	Dir     string
	Program string // instead of Path
	Input   []byte // of its standard input
	User    int    // number of the user and its group; 0: keep
	Mask    int    // umask of the process; 0: keep
	// Remove is deleted when the tool ends without instructions (killed, crashed), or made private (shut) if Keep is set.
	Remove string
	Keep   bool
	// Home is a home directory that only the node's processes have: if the supervisor is killed, processes with this home are
	// ended. Empty if there is none; the supervisor doesn't get it.
	Home string `json:"-"`
	// Groups are created before the process starts in them, and removed when the whole tree has ended.
	Groups []group `json:",omitempty"`
	// Locks is the number of inherited descriptors after the status pipe; they only have to stay open.
	Locks int
}

// fate is a supervisor's report on its status pipe: first a start (PID or Error), then the end.
type fate struct {
	PID   int    `json:",omitempty"`
	Error string `json:",omitempty"`

	Ended        bool
	Code         int    `json:",omitempty"`
	Signal       string `json:",omitempty"`
	OutOfMemory  bool   `json:",omitempty"` // its limit was reached
	User, System int64  // nanoseconds, the whole dead tree
	ReadBytes    int64  // -1: unknown
	WriteBytes   int64  // -1: unknown
}

func (f fate) String() string {
	switch {
	case f.Error != "":
		return "could not be started: " + f.Error
	case f.OutOfMemory:
		return "was ended by the kernel: it reached its memory limit"
	case f.Signal != "":
		return "was ended by a signal: " + f.Signal
	}
	return fmt.Sprintf("exited with code %d", f.Code)
}

const statusFD = 3

// maxJob bounds the line of a job, in bytes: a topology in its input may have a million topics.
const maxJob = 1 << 30

// Words that a supervisor understands on its standard input after the job. The end of that input means kill and remove: the tool
// has ended.
const (
	wordTerm   = "term"   // SIGTERM to the main process
	wordKill   = "kill"   // SIGKILL to the whole tree
	wordDetach = "detach" // from now on the end of the input is ignored
	// wordDismiss ends a supervisor whose broker has ended; until then it guards the directory.
	wordDismiss = "dismiss"
	toolGone    = "" // stands for the end of the input
)

const openFiles = 65536

// supervise runs one broker process and outlives it. It is a process of its own so that a broker can't survive the tool, not even
// after kill -9: it adopts the broker's orphans (child subreaper), and the end of its input means that the tool has ended.
func supervise() int {
	// Pdeathsig is tied to the forking thread, so that thread must live as long as we do.
	runtime.LockOSThread()
	// Caught rather than ignored: the broker would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	status := os.NewFile(statusFD, "status")
	syscall.CloseOnExec(statusFD)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, maxJob)
	var j job
	if !in.Scan() || json.Unmarshal(in.Bytes(), &j) != nil {
		return 2
	}
	for fd := statusFD + 1; fd <= statusFD+j.Locks; fd++ {
		syscall.CloseOnExec(fd)
	}
	report := json.NewEncoder(status)
	if err := adoptOrphans(); err != nil {
		_ = report.Encode(fate{Error: "adopt orphans: " + err.Error(), Ended: true})
		return 2
	}
	main, err := j.start()
	if err != nil {
		removeGroups(j.Groups)
		_ = report.Encode(fate{Error: err.Error(), Ended: true})
		return 2
	}
	_ = report.Encode(fate{PID: main})

	ended := make(chan syscall.WaitStatus, 1)
	gone := make(chan struct{})
	go reap(main, ended, gone)
	go trimLog()
	words := make(chan string)
	go listen(in, words)

	w := watch{main: main, ended: ended, gone: gone, words: words}
	ws := w.untilEnd()
	killTree(os.Getpid(), gone)
	end := endOf(ws)
	end.OutOfMemory = ws.Signaled() && slices.ContainsFunc(j.Groups, group.outOfMemory)
	removeGroups(j.Groups)
	_ = report.Encode(end)
	w.untilDismissed()
	switch {
	case !w.orphaned || j.Remove == "":
	case j.Keep:
		_ = shut(j.Remove)
	default:
		removeStubborn(j.Remove)
	}
	return 0
}

// watch is a supervisor's view of its broker and of the tool.
type watch struct {
	main     int
	ended    <-chan syscall.WaitStatus
	gone     <-chan struct{}
	words    <-chan string
	detached bool
	orphaned bool
}

func (w *watch) untilEnd() syscall.WaitStatus {
	for {
		select {
		case ws := <-w.ended:
			return ws
		case word := <-w.words:
			switch word {
			case wordTerm:
				_ = syscall.Kill(w.main, syscall.SIGTERM)
				thaw(os.Getpid()) // a paused process would not handle it
			case wordDetach:
				w.detached = true
			case toolGone:
				w.orphaned = !w.detached
				if w.orphaned {
					killTree(os.Getpid(), w.gone)
				}
			case wordKill:
				killTree(os.Getpid(), w.gone)
			}
		}
	}
}

// untilDismissed guards the directory of a broker that has ended for as long as the tool may still use it.
func (w *watch) untilDismissed() {
	for !w.detached && !w.orphaned {
		switch <-w.words {
		case wordDismiss:
			return
		case wordDetach:
			w.detached = true
		case toolGone:
			w.orphaned = true
		}
	}
}

func listen(in *bufio.Scanner, words chan<- string) {
	for in.Scan() {
		words <- in.Text()
	}
	words <- toolGone
}

func (j job) start() (int, error) {
	path, argv := j.Path, append([]string{j.Path}, j.Args...)
	attr := diesWithCaller()
	if j.User != 0 {
		if err := gainNothing(); err != nil { // the caller is locked to its thread
			return 0, fmt.Errorf("renounce further rights: %w", err)
		}
	}
	if j.Program != "" {
		path, argv = programCommand(j)
	} else if j.User != 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(j.User), Gid: uint32(j.User), Groups: []uint32{}}
	}
	raiseOpenFiles()
	if j.Mask != 0 {
		syscall.Umask(j.Mask)
	}
	input, err := j.input()
	if err != nil {
		return 0, err
	}
	defer input.Close()
	leave, err := enter(j.Groups, attr)
	if err != nil {
		return 0, err
	}
	defer leave()
	p, err := os.StartProcess(path, argv, &os.ProcAttr{
		Dir: j.Dir, Env: j.Env, Files: []*os.File{input, os.Stdout, os.Stderr}, Sys: attr,
	})
	if err != nil {
		return 0, err
	}
	pid := p.Pid
	_ = p.Release() // reap waits for it
	return pid, nil
}

// input returns the process's standard input.
func (j job) input() (*os.File, error) {
	if j.Input == nil {
		return os.Open(os.DevNull)
	}
	r, w, err := os.Pipe()
	if err == nil {
		go func() {
			defer w.Close()
			_, _ = w.Write(j.Input) // fails if the process ends before it has read everything
		}()
	}
	return r, err
}

// raiseOpenFiles lets brokers open many files, but not the millions some machines allow: Erlang walks them all.
func raiseOpenFiles() {
	var lim syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) == nil {
		lim.Cur = min(lim.Max, openFiles)
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim)
	}
}

// reap collects every child, adopted ones included. It closes gone when main has ended and no child is left.
func reap(main int, ended chan<- syscall.WaitStatus, gone chan<- struct{}) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD: no child is left, so main has ended
			close(gone)
			return
		case pid == main:
			ended <- ws
		}
	}
}

// killTree kills everything below root until the reaper finds no child. Once is not enough: a process may fork between the
// listing and the signal.
func killTree(root int, gone <-chan struct{}) {
	for {
		for _, p := range descendants(root) {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
		select {
		case <-gone:
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// endOf returns the final account. After the last child was reaped, the kernel's sums for our children are exact.
func endOf(ws syscall.WaitStatus) fate {
	d := diskOf(procfs.NewProc(os.Getpid()))
	f := fate{Ended: true, Code: ws.ExitStatus(), ReadBytes: d.DiskReadBytes, WriteBytes: d.DiskWriteBytes}
	if ws.Signaled() {
		f.Code, f.Signal = 128+int(ws.Signal()), ws.Signal().String()
	}
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ru) == nil {
		f.User, f.System = ru.Utime.Nano(), ru.Stime.Nano()
	}
	return f
}

// removeStubborn deletes dir, repeatedly if a sibling node still writes into it for a moment.
func removeStubborn(dir string) {
	for range 200 {
		if err := remove(dir); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
