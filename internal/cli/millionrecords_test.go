package cli_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/pgtest"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/testkit"
)

// What a store that a team shares holds: studies of others, and ours, whose records are as long as those of searches and curves are.
const (
	inAll  = 1_000_000
	inOurs = 1_020 // 17 times the demo
)

// What a report of one study, or of one broker, may take of them.
const (
	mostTime   = 3 * time.Second
	mostMemory = 300e6
)

func TestAReportOfOneStudyOutOfAMillionRecords(t *testing.T) {
	testkit.Long(t)
	for driver, column := range map[string]string{"sqlite": "body", "pgx": "CAST(body AS JSON)"} {
		t.Run(driver, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			whole := path
			if driver == "pgx" {
				path, whole = withoutPassword(t, pgtest.Database(t))
			}
			db, err := sql.Open(driver, whole)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			fill(t, path, db, others(column))
			for _, where := range []string{"study=ours", "broker=kafka", "study=ours,status=void"} {
				least, own, memory := mostTime+time.Hour, time.Duration(0), int64(0)
				for range 3 { // other programs of the machine cost time, too
					out := filepath.Join(t.TempDir(), "report.txt")
					began := time.Now()
					p := start(t, "report", "--store", path, "--where", where, "-o", out)
					if code := exitCode(t, p.Cmd); code != 0 {
						t.Fatalf("exit code %d", code)
					}
					if took := time.Since(began); took < least {
						least, own = took, p.ProcessState.UserTime()+p.ProcessState.SystemTime()
					}
					memory = max(memory, p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10)
					if text, err := os.ReadFile(out); err != nil || !strings.Contains(string(text), "kafka") && !strings.Contains(where, "void") {
						t.Fatalf("%s: %v, %.2000s", where, err, text)
					}
				}
				t.Logf("%s: %v (%v of processor time), %d MB", where, least, own, memory/1e6)
				if own > mostTime || memory > mostMemory {
					t.Errorf("%s: %v of processor time and %d MB, allowed are %v and %d MB", where, own, memory/1e6, mostTime, int64(mostMemory/1e6))
				}
				if least > mostTime {
					testkit.Undecided(t, "%s took %v, of which %v on a core", where, least, own)
				}
			}
		})
	}
}

// others is a statement that stores the records of others with the numbers $2 to $3, made of the body $1 of one. column makes of a body what
// its column holds.
func others(column string) string {
	return fmt.Sprintf(`INSERT INTO record (point_id, study, broker, repetition, status, began, schema, body)
		WITH RECURSIVE number(n) AS (SELECT CAST($2 AS BIGINT) UNION ALL SELECT n + 1 FROM number WHERE n < CAST($3 AS BIGINT)),
			named AS (SELECT n, 's' || (n %% 997) AS study, 'b' || (n %% 12) AS broker FROM number),
			made AS (SELECT n, study, broker, replace(replace(CAST($1 AS TEXT), '#study', study), '#broker', broker) AS body FROM named)
		SELECT 'p' || (n / 5), study, broker, n %% 5, 'ok', n, %d, %s FROM made`, store.Schema, column)
}

// fill makes the store.
func fill(t *testing.T, path string, db *sql.DB, insert string) {
	t.Helper()
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	h := hist.New()
	for i := range int64(60) {
		h.Record(i * i * 1000)
	}
	other := storetest.Products[0].Record(100, "rate", 1)
	other.Study, other.Spec.Broker, other.Axes = "#study", "#broker", nil
	other.Result = &store.Result{Measurement: store.Measurement{Latency: store.Latency{EndToEnd: h.Snapshot(), Publish: h.Snapshot(), Service: h.Snapshot(), Lag: h.Snapshot()}}}
	body, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	began, size := time.Now(), 0
	put := func(from, to int) {
		if _, err := db.ExecContext(t.Context(), insert, string(body), from, to); err != nil {
			t.Fatal(err)
		}
	}
	const half = (inAll - inOurs) / 2
	put(1, half)
	for i := range inOurs / len(storetest.Demo()) {
		for _, r := range storetest.Demo() {
			r.Study, r.PointID = "ours", fmt.Sprint(r.PointID, "-", i)
			r.Spec.Client = map[string]any{"linger.ms": i}
			text, _ := json.Marshal(r)
			size += len(text)
			if _, err := st.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(half+1, inAll-inOurs)
	t.Logf("%d records of %d bytes and %d of %d, stored in %v", inAll-inOurs, len(body), inOurs, size/inOurs, time.Since(began))
}
