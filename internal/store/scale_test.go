package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
)

func TestTenThousandRecordsLoad(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		tx, err := s.db.Begin() // one transaction: ten thousand durable ones would only test the disk
		if err != nil {
			t.Fatal(err)
		}
		h := hist.New()
		for i := range int64(60) {
			h.Record(i * i * 1000)
		}
		r := Record{PointID: "p", Study: "big", Status: OK, Schema: Schema, Result: &Result{Measurement: Measurement{Latency: Latency{
			EndToEnd: h.Snapshot(), Publish: h.Snapshot(), Service: h.Snapshot(), Lag: h.Snapshot(),
		}}}}
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		const n = 10_000
		for i := range n {
			if _, err := tx.Exec(`INSERT INTO record (point_id, study, repetition, status, began, schema, body) VALUES ($1, 'big', 1, 'ok', 0, 1, $2)`,
				fmt.Sprint("p", i), string(body)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var count int64
		for r, err := range s.Each(t.Context(), Filter{Study: "big"}) {
			if err != nil {
				t.Fatal(err)
			}
			count += r.Result.Latency.EndToEnd.Count()
		}
		if count != n*60 {
			t.Errorf("read %d values, want %d", count, n*60)
		}
		t.Logf("%d records of %d bytes in %v", n, len(body), time.Since(began))
		for query, index := range map[string]string{
			`SELECT body FROM record WHERE point_id IN ('p1', 'p2')`:          "record_point",
			`SELECT body FROM record WHERE study = 'small' ORDER BY id`:       "record_study",
			`SELECT point_id FROM record WHERE substr(point_id, 1, 2) = 'p1'`: map[string]string{"sqlite": "record_point"}[p.driver],
		} {
			if plan := queryPlan(t, p, s, query); !strings.Contains(plan, index) {
				t.Errorf("%s is answered without the index %s: %s", query, index, plan)
			}
		}
	})
}

func queryPlan(t *testing.T, p place, s *Store, query string) string {
	t.Helper()
	explain := `EXPLAIN QUERY PLAN `
	if p.driver == "pgx" {
		explain = `EXPLAIN (FORMAT JSON) `
	}
	rows, err := s.db.Query(explain + query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || !rows.Next() {
		t.Fatalf("no plan: %v", err)
	}
	into := make([]any, len(columns))
	for i := range into {
		into[i] = new(sql.NullString)
	}
	if err := rows.Scan(into...); err != nil {
		t.Fatal(err)
	}
	return into[len(into)-1].(*sql.NullString).String
}
