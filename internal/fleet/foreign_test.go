package fleet

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// The messages of these tests are none that a coordinator of this program sends: another holder of the token does.

// asked counts what an agent was asked to do.
type asked struct{ n int }

func (a *asked) Prepare(context.Context, agent.Plan) (agent.Prepared, error) {
	a.n++
	return agent.Prepared{}, nil
}

func (a *asked) Run(context.Context, worker.Load) (worker.Outcome, []agent.Part) {
	a.n++
	return worker.Outcome{}, nil
}

func (a *asked) Used() provision.Usage { return provision.Usage{} }

func (a *asked) Close() error { return nil }

func TestAnAgentRefusesOrdersThatAreNotItsOwn(t *testing.T) {
	files := agent.Plan{Broker: link.Broker{Broker: "sim", TLS: true, CA: "/dev/zero"}}
	for name, c := range map[string]struct {
		meter *provision.Foreign
		order order
		want  error
	}{
		"a load for an agent that meters": {new(provision.Foreign), order{N: 1, Do: doRun, Load: &agent.Load{}}, errMeters},
		"a plan for an agent that meters": {new(provision.Foreign), order{N: 1, Do: doPrepare, Plan: &agent.Plan{}}, errMeters},
		"a plan with files of the agent":  {nil, order{N: 1, Do: doPrepare, Plan: &files}, errFiles},
	} {
		w := &asked{}
		s := newSession(&joined{Options: Options{Meter: c.meter, Worker: w}}, claim{})
		s.obey(t.Context(), down{Order: &c.order})
		if a := <-s.ended; a.N != 1 || a.Fault == nil || a.Fault.Text != c.want.Error() || w.n > 0 {
			t.Errorf("%s: %+v, and %d calls", name, a.Fault, w.n)
		}
	}
}

func TestMessagesOutOfOrderEndNoAgent(t *testing.T) {
	s := newSession(&joined{Options: Options{Worker: &agent.Local{}}}, claim{})
	blocked := make(chan struct{})
	s.executor.local = waiting{&agent.Local{}, blocked}
	s.obey(t.Context(), down{Order: &order{N: 1, Do: doPrepare, Plan: &agent.Plan{}}})
	s.obey(t.Context(), down{Cue: &cue{N: 1, Drain: true}}) // there is no load
	close(blocked)
	if a := <-s.ended; a.Fault == nil {
		t.Error("an empty plan was prepared")
	}
	s.done = 1
	s.obey(t.Context(), down{Order: &order{N: 2, Do: doRun, Load: &agent.Load{}}}) // nothing is prepared
	if a := <-s.ended; a.Outcome == nil || a.Outcome.Err == nil {
		t.Errorf("%+v", a)
	}
}

// waiting is an agent that prepares when it may.
type waiting struct {
	agent.Agent
	may chan struct{}
}

func (w waiting) Prepare(ctx context.Context, p agent.Plan) (agent.Prepared, error) {
	<-w.may
	return w.Agent.Prepare(ctx, p)
}

func TestASessionIsNoPath(t *testing.T) {
	a := &joined{info: Self("a", "b")}
	for _, session := range []string{"", "..", "../../etc/passwd", "a/b", strings.Repeat("a", 23)} {
		if c := a.claim(claim{Session: session, By: a.info}); !strings.Contains(c.Refused, "not one that this program makes") {
			t.Errorf("%q: %+v", session, c)
		}
	}
}

func TestMessagesInflateToSoManyBytesOnly(t *testing.T) {
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(`"` + strings.Repeat("a", 1<<20) + `"`)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	var text string
	if err := inflate(packed.Bytes(), 2<<20, &text); err != nil || len(text) != 1<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if err := inflate(packed.Bytes(), 1<<20, &text); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("beyond the limit: %v", err)
	}
	var p assembler
	piece := nats.NewMsg("x")
	piece.Header.Set(pieceHeader, "id 0 9")
	piece.Data = make([]byte, maxPacked)
	if _, err := p.add(piece, &text); err != nil {
		t.Error(err)
	}
	piece.Header.Set(pieceHeader, "id 1 9")
	if _, err := p.add(piece, &text); err == nil || len(p.text) > 0 {
		t.Errorf("pieces of any size are kept: %v", err)
	}
}

func TestPiecesThatMakeNoMessageAreRefusedOrDropped(t *testing.T) {
	var packed bytes.Buffer
	z, _ := flate.NewWriter(&packed, flate.BestCompression) // it knows the level
	if _, err := z.Write([]byte(`"whole"`)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	p, text := assembler{most: 100}, ""
	add := func(header string, data []byte) (bool, error) {
		m := nats.NewMsg("x")
		m.Header.Set(pieceHeader, header)
		m.Data = data
		return p.add(m, &text)
	}
	half := packed.Len() / 2
	for _, header := range []string{"", "id", "id 0", "id -1 1", "id 1 1", "id 0 0", "id 0 x", "id 0 99999999999", "id 0 999999"} {
		if complete, err := add(header, packed.Bytes()); complete || err == nil {
			t.Errorf("%q is taken for a piece", header)
		}
	}
	for what, data := range map[string][]byte{"not compressed": []byte(`"whole"`), "cut off": packed.Bytes()[:half], "empty": nil} {
		if _, err := add("id 0 1", data); err == nil {
			t.Errorf("%s: %q", what, text)
		}
	}
	for _, header := range []string{"gap 0 3", "gap 2 3", "other 1 2"} { // the second piece of three is missing
		if complete, err := add(header, packed.Bytes()[:half]); complete || err != nil {
			t.Errorf("%q: complete %v, %v", header, complete, err)
		}
	}
	if _, err := add("id 0 2", packed.Bytes()[:half]); err != nil {
		t.Error(err)
	}
	if complete, err := add("id 1 2", packed.Bytes()[half:]); !complete || err != nil || text != "whole" {
		t.Errorf("behind these a whole message gives %q: %v, %v", text, complete, err)
	}
}

// The coordinator's host vanished before it claimed the agent: the connection is lost, and there is no other way to it.
func TestAPlacedAgentWhoseConnectionIsLostEnds(t *testing.T) {
	ended := 0
	s := &Streams{in: bufio.NewReader(blocks{}), out: io.Discard, ended: func() { ended++ }}
	if _, err := s.Dial("", ""); err != nil || ended > 0 {
		t.Fatalf("%v, ended %d times", err, ended)
	}
	if _, err := s.Dial("", ""); err == nil || ended != 1 {
		t.Errorf("the second time: %v, ended %d times", err, ended)
	}
}

// blocks is a stream in which nothing comes.
type blocks struct{}

func (blocks) Read([]byte) (int, error) { select {} }

// However the copy of the program ends, its folder goes.
func TestNothingOfAHalfCopiedProgramStays(t *testing.T) {
	for name, end := range map[string]func(in io.Closer, shell *os.Process) error{
		"the connection ends": func(in io.Closer, _ *os.Process) error { return in.Close() },
		"the line is hung up": func(in io.Closer, shell *os.Process) error {
			return errors.Join(shell.Signal(syscall.SIGHUP), in.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := exec.Command("sh", "-c", remoteScript, "sh", "nats://127.0.0.1:1", "h1")
			c.Env = append(os.Environ(), "TMPDIR="+dir)
			in, err := c.StdinPipe()
			if err = errors.Join(err, c.Start()); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprint(in, "1000\n#!/bin/sh\n>\"$TMPDIR/half a program was started\"\n"); err != nil {
				t.Fatal(err)
			}
			copies := func() []string {
				found, err := filepath.Glob(filepath.Join(dir, "*", "brokermark"))
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			for deadline := time.Now().Add(10 * time.Second); len(copies()) == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("nothing is copied")
				}
			}
			if err := end(in, c.Process); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // which fails
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestAPlacedAgentRemovesItsOwnFolderOnly(t *testing.T) {
	top := t.TempDir()
	own, other, wrong := filepath.Join(top, "brokermark-a1B2c3"), filepath.Join(top, "brokermark-d4E5f6"), filepath.Join(top, "precious")
	link := filepath.Join(top, "brokermark-aaaaaa")
	err := errors.Join(os.Symlink(wrong, link))
	for _, dir := range []string{own, other, wrong} {
		err = errors.Join(err, os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "brokermark"), nil, 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	begin := func(dir, program string) error {
		_, _, err := Begin(dir, filepath.Join(program, "brokermark"), strings.NewReader(strings.Repeat("t", 32)+"\n"), new(bytes.Buffer), func() {})
		return err
	}
	for dir, program := range map[string]string{other: own, wrong: wrong, link: wrong} {
		if err := begin(dir, program); err == nil {
			t.Errorf("%s was removed", dir)
		}
		if _, err := os.Stat(filepath.Join(dir, "brokermark")); err != nil {
			t.Error(err)
		}
	}
	if err := begin(own, own); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(own); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its own folder: %v", err)
	}
}

func TestAnAddressNeedsNoQuotes(t *testing.T) {
	for _, host := range []string{"x';id;'", "a$(id)", "a b"} {
		if _, err := ParseAddress("nats://" + host + ":4222?ca=ca.pem"); err == nil {
			t.Errorf("%s is taken for a host", host)
		}
	}
	if _, err := ParseAddress("nats://[::1]:4222"); err != nil {
		t.Error(err)
	}
}

// Two runs begin in the same moment, in a work directory without a control server's files.
func TestControlServersThatStartAtOnceShareOneTokenAndCertificate(t *testing.T) {
	for range 20 {
		dir := filepath.Join(t.TempDir(), "fleet")
		var all sync.WaitGroup
		servers, errs := make([]*Control, 4), make([]error, 4)
		for i := range servers {
			all.Go(func() { servers[i], errs[i] = Listen("127.0.0.1:0", dir, "") })
		}
		all.Wait()
		for i, c := range servers {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			defer c.Close()
			if c.Token != servers[0].Token || c.Join.Pin != servers[0].Join.Pin {
				t.Fatalf("server %d has another token or certificate", i)
			}
		}
	}
}
