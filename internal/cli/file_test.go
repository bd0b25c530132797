package cli_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

// What is no ordinary file is written to, never replaced: for root, -o /dev/null would have been the end of it.
func TestAnOutputThatIsNoOrdinaryFileIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	st, pipe := filepath.Join(dir, "s.db"), filepath.Join(dir, "pipe")
	brokermark(t, short("--store", st)...).want(t, 0)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"report", "--store", st, "--format", "csv", "-o", pipe}, {"report", "--store", st, "--junit", pipe},
	} {
		read := make(chan []byte, 1)
		go func() {
			f, err := os.Open(pipe)
			if err != nil {
				read <- nil
				return
			}
			defer f.Close()
			b, _ := io.ReadAll(f)
			read <- b
		}()
		brokermark(t, args...).want(t, 0)
		if len(<-read) == 0 {
			t.Errorf("%v: nothing came through the pipe", args)
		}
		if fi, err := os.Stat(pipe); err != nil || fi.Mode().IsRegular() {
			t.Errorf("%v: the pipe has become %v, %v", args, fi.Mode(), err)
		}
	}
}

// What shows results changes none: a store is no place for an output, by whichever name and flag.
func TestAnOutputDoesNotReplaceAStore(t *testing.T) {
	dir := t.TempDir()
	st, link, fresh := filepath.Join(dir, "s.db"), filepath.Join(dir, "link"), filepath.Join(dir, "fresh.db")
	brokermark(t, short("--store", st)...).want(t, 0)
	if err := os.Symlink(st, link); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"export", "-o", st},
		{"export", "-o", link},
		{"report", "--format", "csv", "-o", st},
		{"report", "--junit", st},
		short("--junit", link),
		short("--log", st),
	} {
		before, err := os.ReadFile(st)
		if err != nil {
			t.Fatal(err)
		}
		r := brokermark(t, append(args, "--store", st)...).want(t, 2)
		if !strings.Contains(r.err, "can't be written: it is a SQLite file") {
			t.Errorf("%v: %s", args, r.err)
		}
		if after, err := os.ReadFile(st); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("%v changed the store: %v", args, err)
		}
	}
	brokermark(t, short("--store", fresh, "--junit", fresh)...).want(t, 2)
	brokermark(t, "report", "--store", fresh).want(t, 0)
}

func TestALinkStaysALinkAndItsFileIsWritten(t *testing.T) {
	dir := t.TempDir()
	st, link, target := filepath.Join(dir, "s.db"), filepath.Join(dir, "link.csv"), filepath.Join(dir, "target.csv")
	brokermark(t, short("--store", st)...).want(t, 0)
	write(t, target, "old")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	brokermark(t, "report", "--store", st, "-o", link).want(t, 0)
	fi, err := os.Lstat(link)
	text, _ := os.ReadFile(target)
	if err != nil || fi.Mode()&os.ModeSymlink == 0 || string(text) == "old" {
		t.Errorf("%v, %v; the file holds %q", fi.Mode(), err, text)
	}
}

// Where others may make files, one of them guesses the name of a report and makes a link there to a file of root.
func TestNoOutputGoesThroughALinkOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root can make a link of another user")
	}
	dir := t.TempDir()
	st, target := filepath.Join(dir, "s.db"), filepath.Join(dir, "target")
	brokermark(t, short("--store", st, "--axis", "messageSize=100,200")...).want(t, 0)
	planted := func(name, target string) string {
		t.Helper()
		link := filepath.Join(dir, name)
		if err := errors.Join(os.Symlink(target, link), os.Lchown(link, 60998, 60998)); err != nil {
			t.Fatal(err)
		}
		return link
	}
	var links []string
	for name, to := range map[string]string{"report": "target", "folder": dir, "device": "/dev/null", "none": dir + "/new"} {
		links = append(links, planted(name, to))
		planted(name+".svg", to)
	}
	own := filepath.Join(dir, "own")
	if err := errors.Join(os.Symlink(links[0], own), os.Symlink(links[0], own+".svg")); err != nil {
		t.Fatal(err)
	}
	write(t, target, "of root")
	for _, path := range append(links, own, filepath.Join(dir, "folder", "target")) {
		for _, args := range [][]string{
			{"report", "--store", st, "-o", path},
			{"report", "--store", st, "--junit", path},
			{"export", "--store", st, "-o", path},
			{"figure", "multiples", "--store", st, "-o", path + ".svg"},
			short("--store", filepath.Join(t.TempDir(), "s.db"), "--log", path),
		} {
			if r := brokermark(t, args...).want(t, 2); !strings.Contains(r.err, "is a link that another user made (uid 60998)") {
				t.Errorf("%v: %s", args, r.err)
			}
		}
	}
	if text, _ := os.ReadFile(target); string(text) != "of root" {
		t.Errorf("the file holds %q", text)
	}
	if _, err := os.Stat(dir + "/new"); err == nil {
		t.Error("a file was made through the link")
	}
}

// Where the kernel allows it, another user gives a link of root a further name, from where it leads elsewhere.
func TestNoOutputGoesThroughALinkWithSeveralNames(t *testing.T) {
	dir := t.TempDir()
	st, link, planted, target := filepath.Join(dir, "s.db"), filepath.Join(dir, "link"), filepath.Join(dir, "report"), filepath.Join(dir, "target")
	brokermark(t, short("--store", st)...).want(t, 0)
	write(t, target, "of root")
	if err := errors.Join(os.Symlink("target", link), os.Link(link, planted), os.Chmod(dir, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	if r := brokermark(t, "report", "--store", st, "-o", planted).want(t, 2); !strings.Contains(r.err, "report is one of 2 names of a link") {
		t.Error(r.err)
	}
	if text, _ := os.ReadFile(target); string(text) != "of root" {
		t.Errorf("the file holds %q", text)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	brokermark(t, "report", "--store", st, "-o", planted).want(t, 0) // a system made of hard links
}

// A pipe may be there because another user expected a report.
func TestAnOutputDoesNotWaitForAReader(t *testing.T) {
	dir := t.TempDir()
	st, pipe := filepath.Join(dir, "s.db"), filepath.Join(dir, "pipe")
	brokermark(t, short("--store", st)...).want(t, 0)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader := time.AfterFunc(20*time.Second, func() { // ends what waits
		if f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			time.AfterFunc(time.Second, func() { _ = f.Close() })
		}
	})
	r := brokermark(t, "report", "--store", st, "-o", pipe).want(t, 2)
	if !reader.Stop() || !strings.Contains(r.err, "can't be written: it is a pipe that nothing reads") {
		t.Error(r.err)
	}
}

// Verdicts get their name when they are complete: an old file survives what can't be finished, and no half of a new one
// is found by who reads it.
func TestVerdictsAreWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	st, junit := filepath.Join(dir, "s.db"), filepath.Join(dir, "j.xml")
	write(t, junit, "old")
	brokermark(t, "report", "--store", st, "--junit", junit).want(t, 6) // there is no store
	if text, _ := os.ReadFile(junit); string(text) != "old" {
		t.Errorf("the file holds %q", text)
	}
	brokermark(t, short("--store", st, "--junit", junit)...).want(t, 0)
	if text, _ := os.ReadFile(junit); !bytes.Contains(text, []byte("</testsuites>")) {
		t.Errorf("the file holds %q", text)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".brokermark-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestOutputThatFindsNoRoomIsExitCode1(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		testkit.Lacks(t, "there is no /dev/full here to stand for a full disk")
	}
	st := filepath.Join(t.TempDir(), "s.db")
	brokermark(t, short("--store", st)...).want(t, 0)
	for _, args := range [][]string{
		{"report", "--store", st, "--format", "html", "-o", "/dev/full"}, {"report", "--store", st, "--junit", "/dev/full"},
	} {
		if r := brokermark(t, args...).want(t, 1); !strings.Contains(r.err, "/dev/full can't be written: no space left on device") {
			t.Errorf("%v: %s", args, r.err)
		}
	}
}

// Who made the pipe may put a link to somebody else's file in its place while the program waits for a reader.
func TestAnOutputFollowsNoLinkThatTakesThePlaceOfAPipe(t *testing.T) {
	dir := t.TempDir()
	st, pipe, precious := filepath.Join(dir, "s.db"), filepath.Join(dir, "pipe"), filepath.Join(dir, "precious")
	brokermark(t, short("--store", st)...).want(t, 0)
	write(t, precious, "precious")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	swapped := make(chan error, 1)
	time.AfterFunc(500*time.Millisecond, func() { swapped <- errors.Join(os.Symlink(precious, pipe+"2"), os.Rename(pipe+"2", pipe)) })
	r := brokermark(t, "report", "--store", st, "--format", "csv", "-o", pipe).want(t, 2)
	if err := <-swapped; err != nil || !strings.Contains(r.err, "it was replaced meanwhile") {
		t.Errorf("%v, %s", err, r.err)
	}
	if text, _ := os.ReadFile(precious); string(text) != "precious" {
		t.Errorf("the file holds %q", text)
	}
}
