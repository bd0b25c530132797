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
			if _, err := tx.Exec(`INSERT INTO record (point_id, study, broker, repetition, status, began, schema, body) VALUES ($1, 'big', 'kafka', 1, 'ok', 0, 1, $2)`,
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
		for _, c := range []struct {
			filter Filter
			index  string
			all    bool // entries of the index are looked through: PostgreSQL may find that of few records slower than the records
		}{
			{Filter{PointIDs: []string{"p1", "p2"}}, "record_point", false},
			{Filter{Study: "small"}, "record_study", false},
			{Filter{Broker: "rare"}, "record_broker", false},
			{Filter{PointPrefix: "p1"}, "record_point", true},
			{Filter{Statuses: []Status{Failed}, From: began}, "record_point", true},
		} {
			where, args := c.filter.where()
			plan := queryPlan(t, p, s, `SELECT body FROM record`+where+` ORDER BY id`, args...)
			if !strings.Contains(plan, c.index) && (p.driver == "sqlite" || !c.all) || strings.Contains(plan, "B-TREE") {
				t.Errorf("%s is answered without the index %s, or by sorting records: %s", where, c.index, plan)
			}
		}
	})
}

func queryPlan(t *testing.T, p place, s *Store, query string, args ...any) string {
	t.Helper()
	explain := `EXPLAIN QUERY PLAN `
	if p.driver == "pgx" {
		explain = `EXPLAIN (FORMAT JSON) `
	}
	rows, err := s.db.Query(explain+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	into := make([]any, len(columns))
	for i := range into {
		into[i] = new(sql.NullString)
	}
	var plan []string
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, into[len(into)-1].(*sql.NullString).String)
	}
	if err := rows.Err(); err != nil || plan == nil {
		t.Fatalf("no plan: %v", err)
	}
	return strings.Join(plan, "; ")
}
