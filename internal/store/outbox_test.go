package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store/pgtest"
	"github.com/brokermark/brokermark/internal/study"
)

// brief is how long these tests' stores wait.
const brief = 300 * time.Millisecond

// valve stands between a store and its server. Shut, it takes everything and passes on nothing, as a firewall does that
// has forgotten a connection; deaf, the server hears and its answers are lost.
type valve struct {
	mu         sync.Mutex
	shut, deaf bool
}

func (v *valve) set(shut, deaf bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut, v.deaf = shut, deaf
}

func (v *valve) stops(answer bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shut || answer && v.deaf
}

// through puts a valve before the server of a URL.
func through(t *testing.T, store string) (*valve, string) {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	server, v := u.Host, &valve{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				return
			}
			go v.pass(there, client, false)
			go v.pass(client, there, true)
		}
	}()
	u.Host = l.Addr().String()
	return v, u.String()
}

func (v *valve) pass(to, from net.Conn, answer bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if v.stops(answer) {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func record(id string, n int) Record {
	return Record{PointID: id, Repetition: n, Status: OK, Spec: study.Spec{Broker: "sim"}, Began: time.Unix(1700000000+int64(n), 0).UTC()}
}

func outbox(t *testing.T, url string) (*Outbox, *Store, string, *[]string) {
	t.Helper()
	s, err := open(t.Context(), url, appending, brief)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	dir, said := t.TempDir(), &[]string{}
	return s.Outbox(func(format string, args ...any) { *said = append(*said, fmt.Sprintf(format, args...)) }, io.Discard, dir), s, dir, said
}

func within(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took > limit {
		t.Errorf("%s took %v", what, took)
	}
}

func TestRecordsWaitInAFileWhileTheStoreIsAwayAndAreDeliveredInOrder(t *testing.T) {
	v, url := through(t, pgtest.Database(t))
	o, s, dir, said := outbox(t, url)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(o.Append(t.Context(), record("a", 1)))
	v.set(true, false)
	for n := 2; n <= 4; n++ {
		within(t, 10*brief, "an append to a store that doesn't answer", func() { must(o.Append(t.Context(), record("a", n))) })
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(left) != 1 || len(*said) != 1 || !strings.Contains((*said)[0], left[0]) {
		t.Fatalf("files %v, said %q", left, *said)
	}
	if waiting, err := Collect(ReadRecords(left[0])); err != nil || len(waiting) != 3 {
		t.Errorf("%d records wait: %v", len(waiting), err)
	}
	v.set(false, false)
	must(o.Append(t.Context(), record("a", 5)))
	records, err := s.Records(t.Context(), Filter{})
	must(err)
	var got []int
	for _, r := range records {
		got = append(got, r.Repetition)
	}
	if fmt.Sprint(got) != "[1 2 3 4 5]" {
		t.Errorf("stored: %v", got)
	}
	must(o.Close(t.Context()))
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The server has committed, and its answer was lost: repeating the append must not double the record.
func TestARecordWhoseAnswerWasLostIsStoredOnce(t *testing.T) {
	v, url := through(t, pgtest.Database(t))
	o, s, _, _ := outbox(t, url)
	if err := o.Append(t.Context(), record("a", 1)); err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 6; n++ {
		stop := time.AfterFunc(time.Duration(n)*time.Millisecond/2, func() { v.set(false, true) })
		err := o.Append(t.Context(), record("a", n))
		stop.Stop()
		v.set(false, false)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	records, err := s.Records(t.Context(), Filter{})
	if err != nil || len(records) != 6 {
		t.Errorf("%d records of 6: %v", len(records), err)
	}
}

func TestWhatStillWaitsAtTheEndIsSaidAndDeliveredByTheNextRun(t *testing.T) {
	v, url := through(t, pgtest.Database(t))
	o, s, dir, _ := outbox(t, url)
	v.set(true, false)
	if err := o.Append(t.Context(), record("a", 1)); err != nil {
		t.Fatal(err)
	}
	var unstored *Unstored
	if err := o.Close(t.Context()); !errors.As(err, &unstored) || unstored.Records != 1 || len(unstored.Paths) != 1 || ProblemOf(err) != Unreachable {
		t.Fatalf("at the end: %v", err)
	}
	if info, err := os.Stat(unstored.Paths[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	v.set(false, false)
	next := s.Outbox(t.Logf, io.Discard, dir)
	if err := next.Append(t.Context(), record("a", 2)); err != nil {
		t.Fatal(err)
	}
	if err := next.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if records, err := s.Records(t.Context(), Filter{}); err != nil || len(records) != 2 {
		t.Errorf("%d records: %v", len(records), err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestEveryCallOfAStoreThatNeverAnswersEndsByItselfAndAtAnInterrupt(t *testing.T) {
	v, url := through(t, pgtest.Database(t))
	_, s, _, _ := outbox(t, url)
	mustAppend(t, s, record("a", 1))
	v.set(true, false)
	calls := map[string]func(context.Context) error{
		"append":  func(ctx context.Context) error { _, err := s.Append(ctx, record("a", 2)); return err },
		"records": func(ctx context.Context) error { _, err := s.Records(ctx, Filter{}); return err },
		"done":    func(ctx context.Context) error { _, err := s.Done(ctx, []string{"a"}); return err },
		"open": func(ctx context.Context) error {
			other, err := open(ctx, url, appending, brief)
			if err == nil {
				_ = other.Close()
			}
			return err
		},
	}
	for name, call := range calls {
		within(t, 10*brief, name, func() {
			if err := call(t.Context()); ProblemOf(err) != Unreachable {
				t.Errorf("%s: %v", name, err)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(brief/10, cancel)
		within(t, brief*9/10, name+" that is interrupted", func() {
			if call(ctx) == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

// held is a connection beside the store's that has executed a statement, and executes more.
func held(t *testing.T, driver, url, statement string) (exec func(statement string)) {
	t.Helper()
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	holder, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { holder.Close() })
	exec = func(statement string) {
		t.Helper()
		if _, err := holder.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(statement)
	return exec
}

func TestALockThatIsNotGivenBackHoldsNobodyUpForEver(t *testing.T) {
	url := pgtest.Database(t)
	held(t, "pgx", url, `SELECT pg_advisory_lock(hashtext('brokermark'))`)
	within(t, 10*brief, "opening", func() {
		if s, err := open(t.Context(), url, appending, brief); err == nil {
			_ = s.Close()
			t.Error("the store was opened although its lock is held")
		}
	})
}

func TestAFileThatIsLockedLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	o, s, _, said := outbox(t, path)
	exec := held(t, "sqlite", path, `BEGIN IMMEDIATE`)
	if err := o.Append(t.Context(), record("a", 1)); err != nil {
		t.Fatal(err)
	}
	exec(`ROLLBACK`)
	if err := o.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if records, err := s.Records(t.Context(), Filter{}); err != nil || len(records) != 1 || len(*said) != 2 {
		t.Errorf("%d records, %v; said %q", len(records), err, *said)
	}
}

// named is the name of a file of records for o's store.
func (o *Outbox) named(run string) string { return strings.ReplaceAll(o.pattern, "*", run) }

// leave makes a file of waiting records in dir, as a run with the same store leaves it.
func leave(t *testing.T, o *Outbox, dir, run, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, o.named(run)), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func line(t *testing.T, r Record) string {
	t.Helper()
	r.Schema = Schema
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func TestARecordBehindOneThatACrashCutIsDelivered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	o, s, dir, _ := outbox(t, path)
	leave(t, o, dir, "1", line(t, record("a", 1))+line(t, record("a", 2))[:30])
	exec := held(t, "sqlite", path, `BEGIN IMMEDIATE`)
	o = s.Outbox(t.Logf, io.Discard, dir)
	if err := o.Append(t.Context(), record("a", 3)); err != nil {
		t.Fatal(err)
	}
	exec(`ROLLBACK`)
	if err := o.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if records, err := s.Records(t.Context(), Filter{}); err != nil || len(records) != 2 || records[1].Repetition != 3 {
		t.Errorf("stored are %v, %v; want repetitions 1 and 3", records, err)
	}
}

func TestWhatTheStoreHasTakenIsCountedInWords(t *testing.T) {
	for waiting, want := range map[string]string{
		line(t, record("a", 1)):                                            "the store has taken the record that waited",
		line(t, record("a", 1)) + line(t, record("a", 2)):                  "the store has taken the 2 records that waited",
		line(t, record("a", 1)) + "\x00\n":                                 "the store has taken the record that waited; 1 damaged line is kept in ",
		line(t, record("a", 1)) + "\x00\n\x00\n" + line(t, record("a", 2)): "the store has taken the 2 records that waited; 2 damaged lines are kept in ",
	} {
		o, s, dir, _ := outbox(t, filepath.Join(t.TempDir(), "s.db"))
		leave(t, o, dir, "1", waiting)
		var said []string
		o = s.Outbox(func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }, io.Discard, dir)
		if err := o.Append(t.Context(), record("b", 1)); err != nil {
			t.Fatal(err)
		}
		if len(said) != 1 || !strings.HasPrefix(said[0], want) {
			t.Errorf("said %q, want %q", said, want)
		}
	}
}

func TestALineThatIsNoRecordHoldsNoneBehindItBackAndIsKept(t *testing.T) {
	impossible := record("a", 9)
	impossible.Result = &Result{Measurement: Measurement{PublishRate: -1}}
	long := record("a", 9)
	long.Axes = map[string]string{"g": strings.Repeat("x", 10_001)}
	endless := record("a", 9)
	endless.Spec.SubscriptionsPerTopic = 1e18
	for bad, why := range map[string]string{
		"\x00\x00\n":           ":2: not a record",
		line(t, long):          ":2: not a record: it has a name of 10001 bytes; allowed: 10000",
		line(t, endless):       ":2: not a record: its spec's subscriptionsPerTopic is 1000000000000000000; allowed: 0 to 4194304",
		line(t, impossible):    ":2: not a record: its publish_rate is -1",
		line(t, record("", 9)): ":2: not a record: it has no point_id",
	} {
		o, s, dir, _ := outbox(t, filepath.Join(t.TempDir(), "s.db"))
		leave(t, o, dir, "1", line(t, record("a", 1))+bad+line(t, record("a", 2)))
		var said []string
		o = s.Outbox(func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }, io.Discard, dir)
		if err := o.Append(t.Context(), record("a", 3)); err != nil {
			t.Fatal(err)
		}
		if got := repetitions(t, s); got != "1 2 3" {
			t.Errorf("stored: %s", got)
		}
		kept := filepath.Join(dir, o.named("1")+".damaged")
		if text, err := os.ReadFile(kept); err != nil || !strings.Contains(string(text), bad) {
			t.Errorf("the line is not kept: %q, %v", text, err)
		}
		if told := strings.Join(said, "\n"); !strings.Contains(told, why) || !strings.Contains(told, kept) {
			t.Errorf("said: %s", told)
		}
		if err := o.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestTheFilesOfAllEarlierRunsAreDelivered(t *testing.T) {
	o, s, dir, _ := outbox(t, filepath.Join(t.TempDir(), "s.db"))
	leave(t, o, dir, "1", line(t, record("a", 1)))
	leave(t, o, dir, "2", line(t, record("a", 2)))
	o = s.Outbox(t.Logf, io.Discard, dir)
	if err := o.Append(t.Context(), record("a", 3)); err != nil {
		t.Fatal(err)
	}
	if records, err := s.Records(t.Context(), Filter{}); err != nil || len(records) != 3 {
		t.Errorf("stored are %d records, %v; want 3", len(records), err)
	}
	if left := names(t, dir); left != "" {
		t.Errorf("left: %s", left)
	}
}

func TestAnAppendOutlivesTheFirstInterruptByAFewSeconds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, s, _, _ := outbox(t, filepath.Join(t.TempDir(), "s.db"))
	if err := o.Append(ctx, record("a", 1)); err != nil {
		t.Fatal(err)
	}
	if records, err := s.Records(t.Context(), Filter{}); err != nil || len(records) != 1 {
		t.Errorf("%d records: %v", len(records), err)
	}
}

func TestFilesOfRecordsAreReadUpToWhereACrashCutThem(t *testing.T) {
	whole := `{"schema":1,"point_id":"a","repetition":1,"status":"ok","spec":{"broker":"b"}}` + "\n"
	for text, want := range map[string]string{
		"": "0 records", whole: "1 records", whole + whole: "2 records", whole + whole[:20]: "1 records",
		"x\n": ":1: not a record", whole + "{}\n": ":2: not a record", whole + "[1]\n": ":2: not a record", `{"schema":99}` + "\n": "another version of brokermark",
		`{"schema":1,"spec":3}` + "\n": "can't be read",
		whole[:len(whole)-1] + "x\n":   ":1: not a record", whole + `{"schema":1}` + "\n": ":2: not a record: it has no point_id",
	} {
		list, err := Collect(eachLine("f.jsonl", strings.NewReader(text)))
		got := fmt.Sprintf("%d records", len(list))
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, err := Collect(ReadRecords("/dev/zero")); err == nil {
		t.Error("a device was read")
	}
	if _, err := Collect(eachLine("f", io.MultiReader(strings.NewReader("{"), brokenReader{}))); err == nil || is[notARecord](err) {
		t.Errorf("a broken reader is no error: %v", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
