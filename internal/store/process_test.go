package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store/pgtest"
)

// childStore makes the test binary append to the named store instead of running tests, printing each ID when the
// record is stored.
const childStore = "BROKERMARK_TEST_APPEND_TO"

func TestMain(m *testing.M) {
	if url := os.Getenv(childStore); url != "" {
		count, _ := strconv.Atoi(os.Getenv(childStore + "_COUNT"))
		if err := appendForever(url, count); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if path := os.Getenv(childStore + "_READ"); path != "" {
		_, err := open(context.Background(), path, reading, 100*time.Millisecond)
		fmt.Println(err)
		return
	}
	code := m.Run()
	pgtest.Stop()
	os.Exit(code)
}

func appendForever(url string, count int) error {
	s, err := Open(url)
	if err != nil {
		return err
	}
	for i := 0; count == 0 || i < count; i++ {
		id, err := s.Append(context.Background(), Record{PointID: fmt.Sprint(os.Getpid()), Repetition: i, Reason: strings.Repeat("x", 10_000)})
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
	return s.Close()
}

func child(t *testing.T, path string, count int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childStore+"="+path, childStore+"_COUNT="+fmt.Sprint(count))
	cmd.Stderr = os.Stderr
	return cmd
}

func TestNoFinishedRecordIsLostWhenTheProcessIsKilled(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		path := p.fresh(t)
		stored := map[string]bool{}
		for range 3 { // each time the next process takes over what the killed one left
			cmd := child(t, path, 0)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for n := 0; lines.Scan(); n++ {
				stored[lines.Text()] = true
				if n == 20 { // in the middle of some later append
					if err := cmd.Process.Kill(); err != nil {
						t.Fatal(err)
					}
				}
			}
			_ = cmd.Wait() // "signal: killed"
		}
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for r, err := range s.Each(t.Context(), Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Reason) != 10_000 {
				t.Errorf("record %d was stored in part", r.ID)
			}
			delete(stored, fmt.Sprint(r.ID))
		}
		if len(stored) != 0 {
			t.Errorf("reported as stored, but lost: %v", stored)
		}
	})
}

func TestProcessesMayCreateAndAppendToOneStoreAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		path := p.fresh(t)
		const processes, each = 4, 25
		var running []*exec.Cmd
		for range processes {
			cmd := child(t, path, each)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, cmd)
		}
		for _, cmd := range running {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		s, err := OpenReadOnly(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		next := map[string]int{}
		for r, err := range s.Each(t.Context(), Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Repetition != next[r.PointID] {
				t.Errorf("process %s: record %d came where %d was due", r.PointID, r.Repetition, next[r.PointID])
			}
			next[r.PointID]++
		}
		for pid, n := range next {
			if n != each {
				t.Errorf("process %s stored %d of %d records", pid, n, each)
			}
		}
		if len(next) != processes {
			t.Errorf("%d processes stored records, want %d", len(next), processes)
		}
	})
}
