package reports

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
)

func init() {
	report.Register(report.Report{
		Name:  "ledger",
		Doc:   "what was sent, confirmed and delivered, and every stream with a fault: which messages were lost",
		Build: ledger,
	})
}

func ledger(records []store.Record) (report.Document, error) {
	d := report.Document{Title: "Ledger"}
	points := report.Points(records)
	d.Say(state(points))
	books := report.Table{Title: "Books", Columns: append([]report.Column{
		{Key: "broker", Name: "broker", Row: true},
		{Key: "setting", Name: "messages", Row: true},
		{Key: "load", Name: "load", Row: true},
		{Key: "repetition", Name: "rep.", Unit: report.Count, Row: true},
		{Key: "status", Name: "status"},
	}, bookColumns()...)}
	var faults []report.Block
	for _, p := range points {
		for _, r := range p.Records {
			if r.Result == nil {
				continue
			}
			books.Rows = append(books.Rows, append([]report.Cell{
				report.Text(p.Name), report.Text(p.Setting()), report.Text(p.Load()), report.Number(r.Repetition), report.Text(string(r.Status)),
			}, bookCells(r.Result.Books)...))
			faults = append(faults, streams(p, r)...)
		}
	}
	if len(books.Rows) == 0 {
		d.Say("No record holds a ledger.")
		return d, nil
	}
	d.Add(books)
	switch {
	case faulty(points) && faults == nil:
		d.Say("Which streams the faults were in was not recorded.")
	case faults == nil:
		d.Say("No stream shows a fault: nothing was lost, duplicated, reordered or corrupted.")
	}
	d.Add(faults...)
	return d, nil
}

func faulty(points []report.Point) bool {
	for _, p := range points {
		for _, r := range p.Records {
			if r.Result != nil && r.Result.Books.Lost+r.Result.Books.Duplicated+r.Result.Books.Reordered+r.Result.Books.Corrupted > 0 {
				return true
			}
		}
	}
	return false
}

// streams shows the streams of r that have a fault.
func streams(p report.Point, r store.Record) []report.Block {
	if len(r.Result.Streams) == 0 {
		return nil
	}
	name := fmt.Sprintf("Faults: %s, %s, %s, repetition %d", p.Name, p.Setting(), p.Load(), r.Repetition)
	t := report.Table{Title: name, Columns: append([]report.Column{
		{Key: "producer", Name: "producer", Unit: report.Count, Row: true},
		{Key: "topic", Name: "topic", Row: true},
		{Key: "subscription", Name: "subscription", Row: true},
	}, append(bookColumns(), report.Column{Key: "lost_ranges", Name: "lost sequence numbers"})...)}
	for _, s := range r.Result.Streams {
		row := append([]report.Cell{report.Number(s.Producer), report.Text(s.Topic), report.Text(s.Subscription)}, bookCells(s.Books)...)
		t.Rows = append(t.Rows, append(row, report.Text(ranges(s))))
	}
	return []report.Block{t}
}

func bookColumns() []report.Column {
	var columns []report.Column
	for _, c := range [][2]string{
		{"sent", "sent"},
		{"acked", "acked"},
		{"failed", "failed"},
		{"unresolved", "unres."},
		{"expected", "expected"},
		{"received", "received"},
		{"lost", "lost"},
		{"lost_acked", "lost\nafter ack"},
		{"duplicated", "dup."},
		{"reordered", "reord."},
		{"corrupted", "corr."},
	} {
		columns = append(columns, report.Column{Key: c[0], Name: c[1], Unit: report.Count})
	}
	return columns
}

func bookCells(b store.Books) []report.Cell {
	var cells []report.Cell
	for _, n := range []int64{
		b.Sent, b.Acked, b.Failed, b.Unresolved, b.Expected, b.Received, b.Lost, b.LostAcked, b.Duplicated, b.Reordered, b.Corrupted,
	} {
		cells = append(cells, report.Number(n))
	}
	return cells
}

func ranges(s store.Stream) string {
	var words []string
	for _, r := range s.LostRanges {
		if r[0] == r[1] {
			words = append(words, fmt.Sprint(r[0]))
		} else {
			words = append(words, fmt.Sprintf("%d–%d", r[0], r[1]))
		}
	}
	if s.LostRangesCut {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}
