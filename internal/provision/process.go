package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is one broker process tree, as the tool sees it: its supervisor, and that supervisor's reports.
type process struct {
	Supervisor identity
	Main       int

	cmd   *exec.Cmd // nil if another run of the tool started the supervisor
	mu    sync.Mutex
	words io.WriteCloser
	ended chan struct{} // closed once the whole tree is dead
	fate  fate          // valid after ended
}

// launch starts j under a supervisor that writes the broker's output to log and holds locks open. It returns when
// the broker process exists, not when it is ready.
func launch(j job, log *os.File, locks []*os.File) (*process, error) {
	if !mainCalled {
		return nil, errors.New("provision.Main was not called at the start of this program (or of TestMain)")
	}
	statusR, statusW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer statusW.Close()
	j.Locks = len(locks)
	cmd := &exec.Cmd{
		Path: self, Args: []string{"brokermark", superviseArg}, Dir: "/",
		Env:    supervisorEnvironment(),
		Stdout: log, Stderr: log,
		ExtraFiles:  append([]*os.File{statusW}, locks...),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	words, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		statusR.Close()
		return nil, fmt.Errorf("start a supervisor: %w", err)
	}
	p := &process{Supervisor: identify(cmd.Process.Pid), cmd: cmd, words: words, ended: make(chan struct{})}
	_ = json.NewEncoder(words).Encode(j)
	reports := json.NewDecoder(statusR)
	var first fate
	if err := reports.Decode(&first); err != nil {
		first = fate{Error: "its supervisor ended: " + err.Error()}
	}
	if first.PID == 0 {
		statusR.Close()
		p.dismiss()
		return nil, errors.New(first.Error)
	}
	p.Main = first.PID
	go p.follow(reports, statusR, j)
	return p, nil
}

// supervisorEnvironment returns the few variables of the caller that Go's runtime reads; the others may hold secrets.
func supervisorEnvironment() []string {
	return append([]string{"PATH=" + usualPath}, handed([]string{"GORACE", "GOCOVERDIR"})...)
}

// follow waits for the supervisor's last report. A killed supervisor sends none: the kernel has then killed the broker's main
// process with it. follow ends the broker's other processes, which it finds by their home directory, and removes its control
// groups.
func (p *process) follow(reports *json.Decoder, status io.Closer, j job) {
	defer status.Close()
	if err := reports.Decode(&p.fate); err != nil {
		p.fate = fate{Ended: true, Code: -1, Signal: "its supervisor was killed", ReadBytes: -1, WriteBytes: -1}
		if j.Home != "" {
			killBelow(j.Home)
		}
		removeGroups(j.Groups)
	}
	close(p.ended)
}

// adopt makes a process from a supervisor that an earlier run of the tool left running.
func adopt(supervisor identity, main int) *process {
	p := &process{Supervisor: supervisor, Main: main, ended: make(chan struct{})}
	go func() {
		for supervisor.alive() {
			time.Sleep(20 * time.Millisecond)
		}
		p.fate = fate{Ended: true, ReadBytes: -1, WriteBytes: -1}
		close(p.ended)
	}()
	return p
}

func (p *process) tell(word string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.words != nil {
		_, _ = io.WriteString(p.words, word+"\n")
	}
}

// terminate asks the main process to end; it does not wait.
func (p *process) terminate() {
	if p.cmd != nil {
		p.tell(wordTerm)
		return
	}
	_ = p.signal(p.Main, syscall.SIGTERM) // it may have ended already
	thaw(p.Supervisor.PID)
}

// signal sends s to a process of the tree. It refuses the number of any other process: the number may come from a file that the
// broker, or another process of its user, has written.
func (p *process) signal(pid int, s syscall.Signal) error {
	for _, d := range descendants(p.Supervisor.PID) {
		if d.PID == pid && p.Supervisor.alive() {
			return syscall.Kill(pid, s)
		}
	}
	return fmt.Errorf("process %d is not one of the node's", pid)
}

// kill ends the whole tree and waits until the last process is gone.
func (p *process) kill() {
	if p.cmd != nil {
		p.tell(wordKill)
		<-p.ended
		return
	}
	for !p.dead() {
		if p.Supervisor.alive() {
			for _, d := range descendants(p.Supervisor.PID) {
				_ = syscall.Kill(d.PID, syscall.SIGKILL)
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (p *process) dead() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// wait waits for the end of the tree; it returns early, with the context's error, when ctx ends.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dismiss lets the supervisor of a dead tree end; idempotent.
func (p *process) dismiss() {
	if p.cmd == nil {
		return
	}
	p.tell(wordDismiss)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.words != nil {
		p.words.Close()
		p.words = nil
		_ = p.cmd.Wait()
	}
}

// detach lets the tree continue after the tool ends.
func (p *process) detach() { p.tell(wordDetach) }
