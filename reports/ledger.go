package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "ledger",
		Doc:   "what was sent, confirmed and delivered, and every stream with a fault: which messages were lost",
		Build: ledgerReport,
	})
}

func ledgerReport(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Ledger"}
	points := set.Points
	d.Say(state(points))
	books := document.Table{Title: "Books", Columns: booksColumns(points)}
	var faults []document.Block
	for _, p := range points {
		for _, r := range p.Records {
			for _, l := range results.Loads(r) {
				if hasBooks(p, l) {
					books.Rows = append(books.Rows, booksRow(p, l))
					faults = append(faults, streams(p, l)...)
				}
			}
		}
	}
	if len(books.Rows) == 0 {
		d.Say("No record holds a ledger.")
		return d, nil
	}
	d.Add(books)
	if anyLoad(points, missed) {
		d.Say("Due: by the schedule; never sent: of those, what there was no room for until the run ended.")
	}
	if anyLoad(points, resent) {
		d.Say("Resent: sent once more because the connection was lost or no answer came; such a message is counted once in all other columns.")
	}
	switch {
	case anyLoad(points, faulty) && faults == nil:
		d.Say("Which streams the faults were in was not recorded.")
	case faults == nil:
		d.Say("No stream shows a fault: nothing was lost, duplicated, reordered or corrupted.")
	}
	d.Add(faults...)
	return d, nil
}

// booksColumns are the columns of the books. Readers see the counts that are not the same in every row.
func booksColumns(points []results.Point) []document.Column {
	return append([]document.Column{
		{Key: "broker", Name: "broker", Row: true},
		{Key: "setting", Name: "messages", Row: true},
		{Key: "load", Name: "load", Row: true},
		{Key: "repetition", Name: "rep.", Unit: unit.Count, Row: true, Data: !anyLoad(points, repeated)},
		{Key: "status", Name: "status"},
	}, metricColumns(runCounts, dataOnly{
		"due": !anyLoad(points, missed), "unsent": !anyLoad(points, missed), "resent": !anyLoad(points, resent), "expected": !anyLoad(points, fannedOut),
	})...)
}

// hasBooks tells whether the books of a load are known. Older records don't have those of each rate of a curve.
func hasBooks(p results.Point, l results.Load) bool {
	return l.Record.Result != nil && !p.Published() && (l.Rate == 0 || l.Record.Result.Books != results.Books{})
}

func booksRow(p results.Point, l results.Load) document.Row {
	row := document.Row{
		"broker":     document.Text(p.Name),
		"setting":    document.Text(p.Setting()),
		"load":       document.Text(l.Title),
		"repetition": document.Number(l.Record.Repetition),
		"status":     document.Text(results.Ending(string(l.Record.Status), []results.Record{l.Record})).Toned(toneOf(l.Record.Status)),
	}
	countCells(row, runCounts, l.Record.Result.Books)
	return row
}

// anyLoad asks about every record and every rate of a curve.
func anyLoad(points []results.Point, is func(results.Record) bool) bool {
	return slices.ContainsFunc(points, func(p results.Point) bool { return slices.ContainsFunc(withRates(p.Records), is) })
}

func faulty(r results.Record) bool {
	return r.Result != nil && r.Result.Books.Lost+r.Result.Books.Duplicated+r.Result.Books.Reordered+r.Result.Books.Corrupted > 0
}

func missed(r results.Record) bool { return r.Result != nil && r.Result.Books.Unsent > 0 }

func resent(r results.Record) bool { return r.Result != nil && r.Result.Books.Resent > 0 }

func repeated(r results.Record) bool { return r.Repetition > 1 }

// fannedOut tells that not each message was expected once.
func fannedOut(r results.Record) bool {
	return r.Result != nil && r.Result.Books.Expected != r.Result.Books.Sent
}

// streams shows the streams of a load that have a fault.
func streams(p results.Point, l results.Load) []document.Block {
	r := l.Record
	if len(r.Result.Streams) == 0 {
		return nil
	}
	name := fmt.Sprintf("Faults: %s, %s, %s, repetition %d", p.Name, p.Setting(), l.Title, r.Repetition)
	t := document.Table{Title: name, Columns: append([]document.Column{
		{Key: "producer", Name: "producer", Unit: unit.Count, Row: true},
		{Key: "topic", Name: "topic", Row: true},
		{Key: "subscription", Name: "subscription", Row: true},
	}, append(metricColumns(streamCounts, nil), document.Column{Key: "lost_ranges", Name: "lost sequence numbers"})...)}
	for _, s := range r.Result.Streams {
		row := document.Row{
			"producer":     document.Number(s.Producer),
			"topic":        document.Text(s.Topic),
			"subscription": document.Text(s.Subscription),
			"lost_ranges":  document.Text(ranges(s)),
		}
		countCells(row, streamCounts, s.Books)
		t.Rows = append(t.Rows, row)
	}
	return []document.Block{t}
}

// The counts of a ledger, by the keys of their metrics. Which stream a message that was due or sent again belonged to
// isn't kept.
var (
	streamCounts = []string{
		"sent", "acked", "failed", "unresolved", "expected", "received", "lost", "lost_acked", "duplicated", "reordered", "corrupted",
	}
	runCounts = slices.Insert(slices.Insert(slices.Clone(streamCounts), 3, "resent"), 0, "due", "unsent")
)

// countCells adds the counts to a row; what was due is unknown in records of before it was counted.
func countCells(row document.Row, keys []string, b results.Books) {
	for _, key := range keys {
		if b.Due > 0 || key != "due" && key != "unsent" {
			row[key] = document.Number(results.MustMetric(key).Books(b))
		}
	}
}

func ranges(s results.Stream) string {
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
