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
	d.Say(statusSentence(points))
	var accounts []account
	var faults []document.Block
	for _, p := range points {
		for _, r := range p.Records {
			for _, l := range results.Loads(r) {
				if a := (account{p, l}); a.known() {
					accounts = append(accounts, a)
					faults = append(faults, a.streams()...)
				}
			}
		}
	}
	if len(accounts) == 0 {
		d.Say("No record holds a ledger.")
		return d, nil
	}
	books := tableOf(booksColumns(points), accounts)
	books.Title = "Books"
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

// account holds the counts of one repetition of a point under one load.
type account struct {
	point results.Point
	load  results.RepetitionLoad
}

// known tells whether the books are known. Older records don't have books for each rate of a curve.
func (a account) known() bool {
	r := a.load.Record.Result
	return r != nil && !a.point.Published() && (a.load.Rate == 0 || r.Books != results.Books{})
}

func (a account) books() *results.Books { return &a.load.Record.Result.Books }

// booksColumns are the columns of the books. Readers see the counts that are not the same in every row.
func booksColumns(points []results.Point) []columnOf[account] {
	return append([]columnOf[account]{
		{document.Column{Key: "broker", Name: "broker", Row: true}, func(a account) document.Cell { return document.Text(a.point.Name) }},
		{document.Column{Key: "setting", Name: "messages", Row: true}, func(a account) document.Cell { return document.Text(a.point.Setting()) }},
		{document.Column{Key: "load", Name: "load", Row: true}, func(a account) document.Cell { return document.Text(a.load.RowTitle) }},
		{
			document.Column{Key: "repetition", Name: "rep.", Unit: unit.Count, Row: true, Data: !anyLoad(points, repeated)},
			func(a account) document.Cell { return document.Number(a.load.Record.Repetition) },
		},
		{document.Column{Key: "status", Name: "status"}, func(a account) document.Cell {
			r := a.load.Record
			return document.Text(results.Ending(string(r.Status), []results.Record{r})).Toned(toneOf(r.Status))
		}},
	}, countColumns(runCounts, dataOnly{
		results.KeyDue: !anyLoad(points, missed), results.KeyUnsent: !anyLoad(points, missed), results.KeyResent: !anyLoad(points, resent), results.KeyExpected: !anyLoad(points, fannedOut),
	}, account.books)...)
}

// anyLoad tells whether something holds for any record, or for any rate of a curve.
func anyLoad(points []results.Point, is func(results.Record) bool) bool {
	return slices.ContainsFunc(points, func(p results.Point) bool { return slices.ContainsFunc(withRates(p.Records), is) })
}

func faulty(r results.Record) bool {
	return r.Result != nil && r.Result.Books.Lost+r.Result.Books.Duplicated+r.Result.Books.Reordered+r.Result.Books.Corrupted > 0
}

func missed(r results.Record) bool { return r.Result != nil && r.Result.Books.Unsent > 0 }

func resent(r results.Record) bool { return r.Result != nil && r.Result.Books.Resent > 0 }

func repeated(r results.Record) bool { return r.Repetition > 1 }

// fannedOut tells whether messages were expected by several subscriptions, or by none.
func fannedOut(r results.Record) bool {
	return r.Result != nil && r.Result.Books.Expected != r.Result.Books.Sent
}

// streams shows the streams of a load that have a fault.
func (a account) streams() []document.Block {
	r := a.load.Record
	if len(r.Result.Streams) == 0 {
		return nil
	}
	t := tableOf(streamColumns, r.Result.Streams)
	t.Title = fmt.Sprintf("Faults: %s, %s, %s, repetition %d", a.point.Name, a.point.Setting(), a.load.RowTitle, r.Repetition)
	return []document.Block{t}
}

var streamColumns = slices.Concat([]columnOf[results.Stream]{
	{document.Column{Key: "producer", Name: "producer", Unit: unit.Count, Row: true}, func(s results.Stream) document.Cell { return document.Number(s.Producer) }},
	{document.Column{Key: "topic", Name: "topic", Row: true}, func(s results.Stream) document.Cell { return document.Text(s.Topic) }},
	{document.Column{Key: "subscription", Name: "subscription", Row: true}, func(s results.Stream) document.Cell { return document.Text(s.Subscription) }},
}, countColumns(streamCounts, nil, func(s results.Stream) *results.Books { return &s.Books }), []columnOf[results.Stream]{
	{document.Column{Key: "lost_ranges", Name: "lost sequence numbers"}, func(s results.Stream) document.Cell { return document.Text(lostRanges(s)) }},
})

// runCounts are the counts of a repetition, by the keys of their metrics.
var runCounts = []string{
	results.KeyDue, results.KeyUnsent, results.KeySent, results.KeyAcked, results.KeyFailed, results.KeyResent, results.KeyUnresolved,
	results.KeyExpected, results.KeyReceived, results.KeyLost, results.KeyLostAcked, results.KeyDuplicated, results.KeyReordered, results.KeyCorrupted,
}

// streamCounts are the counts of a stream. To which stream a message that was due or sent again belonged isn't recorded.
var streamCounts = slices.DeleteFunc(slices.Clone(runCounts), func(key string) bool {
	return key == results.KeyDue || key == results.KeyUnsent || key == results.KeyResent
})

// lostRanges lists the first ranges of lost sequence numbers: "17–18 99120 …". The dots stand for ranges that weren't recorded.
func lostRanges(s results.Stream) string {
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
