package cli_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/sim"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/usual"
)

// asCrashing says how the client library of the broker "crashing" crashes.
const asCrashing = "BROKERMARK_CLI_TEST_CRASH"

// crashes are what a library may do in a goroutine of its own. Each secret-looking word must not get anywhere.
var crashes = map[string]func(){
	"panics":          func() { panic("queue closed twice by nats://eve:s3cr3t@h:1") },
	"panics later":    func() { time.Sleep(700 * time.Millisecond); panic(errors.New("queue closed twice\nand more")) },
	"dereferences":    func() { var p *store.Record; p.ID++ },
	"overflows":       func() { debug.SetMaxStack(1 << 20); os.Exit(overflow(0)) },
	"exits":           func() { os.Exit(0) },
	"runs out of RAM": func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) },
}

func overflow(n int) int {
	if n < 0 {
		return n
	}
	return overflow(n+1) + 1
}

// registerCrashing has a broker "crashing": the in-process one, whose library crashes when it is opened for the second time.
func registerCrashing() {
	crash := crashes[os.Getenv(asCrashing)]
	if crash == nil {
		return
	}
	kind := sim.Kind()
	open := kind.Open
	var opened atomic.Int64
	kind.Open = func(ctx context.Context, c driver.Config) (driver.Driver, error) {
		if opened.Add(1) == 2 {
			go crash()
		}
		return open(ctx, c)
	}
	catalog.Add(catalog.Product{Name: "crashing", Driver: kind, Defaults: usual.Defaults{Persistence: usual.Memory}})
}

// A goroutine of a client library that panics ends the program, and nobody can prevent it. It ends with a sentence, the exit
// code of an internal error, the dump in a file, and the record of what was under way.
func TestACrashIsASentenceADumpAndARecord(t *testing.T) {
	for how, want := range map[string]struct {
		code   int
		stderr string // the first line, as far as the file's name
		reason string
		dump   string // words of it; empty: there is none
	}{
		"panics": {
			1, "brokermark: internal error: panic: queue closed twice by nats://eve:xxxxx@h:1; please report it and attach ",
			"brokermark crashed: panic: queue closed twice by nats://eve:xxxxx@h:1", "goroutine ",
		},
		"panics later": {
			1, "brokermark: internal error: panic: ", "messages were sent, ", "and more",
		},
		"dereferences": {
			1, "brokermark: internal error: panic: runtime error: invalid memory address or nil pointer dereference; please report it and attach ",
			"brokermark crashed: panic: runtime error: invalid memory address or nil pointer dereference", "SIGSEGV",
		},
		"overflows": {
			1, "brokermark: internal error: runtime: goroutine stack exceeds 1048576-byte limit; please report it and attach ",
			"brokermark crashed: runtime: goroutine stack exceeds 1048576-byte limit", "stack overflow",
		},
		"exits": {
			1, "brokermark: internal error: a library ended the program with exit code 0; please report it and attach ",
			"brokermark crashed: a library ended the program with exit code 0", "",
		},
		"runs out of RAM": {
			-1, "brokermark: killed; the kernel kills a program when memory runs out", "brokermark crashed: killed", "",
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			code, stderr, dir := crashed(t, how)
			line := ""
			for l := range strings.Lines(stderr) {
				if strings.HasPrefix(l, "brokermark: ") {
					line = l
					break
				}
			}
			if code != want.code || !strings.HasPrefix(line, want.stderr) || strings.Contains(stderr, "\ngoroutine ") {
				t.Errorf("exit code %d, want %d; stderr:\n%s\nwant\n%s", code, want.code, stderr, want.stderr)
			}
			next := "the same command goes on from there"
			if how == "panics later" {
				next = "because of --again, the same command begins anew"
			}
			if !strings.Contains(stderr, "is recorded as failed; "+next+"\n") {
				t.Errorf("stderr doesn't tell of the record:\n%s", stderr)
			}
			requireDump(t, filepath.Join(dir, "tmp"), line, want.dump)
			records := place{store: filepath.Join(dir, "s.db")}.records(t)
			if len(records) != 2 || records[0].Status == store.Failed || records[1].Status != store.Failed {
				t.Fatalf("%d records; want that of the first repetition and one that failed", len(records))
			}
			r := records[1]
			if !strings.Contains(r.Reason, want.reason) || r.Repetition != 2 || r.PointID != records[0].PointID || !r.Ended.After(r.Began) || r.Host.Kernel == "" {
				t.Errorf("the record: repetition %d, %s to %s, on %+v: %s", r.Repetition, r.Began, r.Ended, r.Host, r.Reason)
			}
		})
	}
}

// crashed runs three repetitions on the broker "crashing"; the second crashes.
func crashed(t *testing.T, how string) (code int, stderr, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	args := count("crashing", "--repeat", "3", "--store", filepath.Join(dir, "s.db"))
	if how == "panics later" {
		args = []string{"run", "--broker", "crashing", "--measure", "rate", "--rate", "100", "--duration", "1s", "--set", "warmup=0s", "--repeat", "3", "--again", "--store", filepath.Join(dir, "s.db")}
	}
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asProgram+"=1", asCrashing+"="+how, "TMPDIR="+filepath.Join(dir, "tmp"))
	var text strings.Builder
	c.Stderr = &text
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	code = exitCode(t, c)
	return code, text.String(), dir
}

// requireDump checks that the line names the one file there is, that it is the user's alone and has no secret in it.
func requireDump(t *testing.T, dir, line, want string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "brokermark-crash-*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(line, "attach") != (len(files) == 1) {
		t.Fatalf("the files are %v; the line says %s", files, line)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(line, f) || info.Mode().Perm() != 0o600 || !strings.Contains(string(text), want) || strings.Contains(string(text), "s3cr3t") {
			t.Errorf("%s (%s, named by %q) lacks %q, or holds a secret:\n%.2000s", f, info.Mode(), line, want, text)
		}
	}
}
