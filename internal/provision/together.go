package provision

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Step is one process of a node that consists of several, such as a broker and the storage it writes to.
type Step struct {
	Name string
	Path string
	Args []string // without the program's own name
	// Done makes the step run to its end, and only once: the file of this name is created after the step has succeeded, and a
	// step whose file exists is skipped.
	Done string
	// Ends means that the process ends by itself when its work is done: the node ends with the last such process.
	Ends bool
	// After lists the conditions for starting the step: files that exist (absolute paths) and TCP addresses that accept connections.
	After []string
}

// Together returns the command of a node that consists of several processes. They are started in the order of steps, with one environment
// and one log, and stopped in the reverse order. The end of one of them is the end of the node, unless that step Ends.
func Together(env []string, steps ...Step) (Command, error) {
	text, err := json.Marshal(steps)
	return Command{Program: togetherProgram, Args: []string{string(text)}, Env: env}, err
}

const (
	togetherProgram = "together"
	togetherLook    = 50 * time.Millisecond
)

func init() { RegisterProgram(togetherProgram, runTogether) }

// ensemble is the processes of one node.
type ensemble struct {
	running []*part
	ended   chan *part
	term    chan os.Signal
}

type part struct {
	name string
	ends bool
	cmd  *exec.Cmd
	over chan struct{} // closed when it has ended
}

func runTogether(args []string) int {
	var steps []Step
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &steps) != nil {
		fmt.Fprintln(os.Stderr, togetherProgram, "wants its steps as JSON")
		return 2
	}
	e := &ensemble{ended: make(chan *part, len(steps)), term: make(chan os.Signal, 1)}
	signal.Notify(e.term, syscall.SIGTERM)
	err := e.start(steps)
	if err == nil {
		err = e.wait()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	e.stop()
	if err != nil && !errors.Is(err, errTold) {
		return 1
	}
	return 0
}

// errTold means that the node was asked to end before everything was started.
var errTold = errors.New("told to end before all was started")

func (p *part) hasEnded() error { return fmt.Errorf("%s has ended: %s", p.name, p.cmd.ProcessState) }

func (e *ensemble) start(steps []Step) error {
	for _, s := range steps {
		if s.Done != "" && there(s.Done) {
			continue
		}
		for _, need := range s.After {
			if err := e.await(need); err != nil {
				return err
			}
		}
		p, err := e.launch(s)
		if err != nil {
			return err
		}
		if s.Done == "" {
			e.running = append(e.running, p)
		} else if err := e.complete(p, s.Done); err != nil {
			return err
		}
	}
	return nil
}

func (e *ensemble) launch(s Step) (*part, error) {
	p := &part{name: s.Name, ends: s.Ends, cmd: exec.Command(s.Path, s.Args...), over: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = os.Stdout, os.Stderr
	p.cmd.SysProcAttr = diesWithCaller() // the caller is locked to its thread
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.over)
		if s.Done == "" {
			e.ended <- p
		}
	}()
	return p, nil
}

// wait returns when the node has to end: on request, when a part has ended unexpectedly, or when all parts with Ends have ended.
func (e *ensemble) wait() error {
	for left := len(e.running); left > 0; left-- {
		select {
		case <-e.term:
			return nil
		case p := <-e.ended:
			if !p.ends || !p.cmd.ProcessState.Success() {
				return p.hasEnded()
			}
		}
	}
	return nil
}

// await returns when need is available, or an error if a process has ended or the node has to end.
func (e *ensemble) await(need string) error {
	for !there(need) {
		select {
		case <-e.term:
			return errTold
		case p := <-e.ended:
			return p.hasEnded()
		case <-time.After(togetherLook):
		}
	}
	return nil
}

// complete waits for a step that runs to its end.
func (e *ensemble) complete(p *part, done string) error {
	select {
	case <-e.term:
		e.running = append(e.running, p)
		return errTold
	case dead := <-e.ended:
		e.running = append(e.running, p)
		return dead.hasEnded()
	case <-p.over:
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s has failed: %s", p.name, p.cmd.ProcessState)
	}
	return os.WriteFile(done, nil, 0o644)
}

func (e *ensemble) stop() {
	for _, p := range slices.Backward(e.running) {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		<-p.over
	}
}

func there(need string) bool {
	if filepath.IsAbs(need) {
		_, err := os.Stat(need)
		return err == nil
	}
	conn, err := net.DialTimeout("tcp", need, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
