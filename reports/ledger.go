// The ledger report shows the message counts (books) of every repetition, then each stream in which
// messages were lost, duplicated, reordered or corrupted. A stream is all messages of one producer to
// one topic, as one subscription sees them. Here one lost messages 17, 18 and 9120 of 10,000:
//
//	producer   topic   subscription   sent     received   lost   lost sequence numbers
//	3          t0      s0             10 000   9997       3      17–18 9120

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
	d.Say(statusSentence(set.Points))
	accounts := accountsOf(set.Points)
	if len(accounts) == 0 {
		d.Say("No record holds a ledger.")
		return d, nil
	}
	d.Add(tableOf("Books", bookColumns(set.Points), accounts))
	addBookTerms(&d, set.Points, accounts)
	for _, a := range accounts {
		if len(a.streams()) > 0 {
			d.Add(a.streamTable())
		}
	}
	d.Say(streamsSentence(accounts))
	return d, nil
}

// addBookTerms explains those columns of the books that hold something.
func addBookTerms(d *document.Document, points []results.Point, accounts []account) {
	if slices.ContainsFunc(accounts, func(a account) bool { return a.isCounted() && a.countsNothing() }) {
		d.Say("Counts in parentheses are of void or aborted repetitions and never used.")
	}
	if !allCounted(accounts) {
		d.Say("Where counts are missing nothing was counted, as by another tool: what was lost there is not known.")
	}
	if anyLoad(points, leftUnsent) {
		d.Say("Due: by the schedule; never sent: of those, what there was no room for until the run ended.")
	}
	if anyLoad(points, wasResent) {
		d.Say("Resent: sent once more because the connection was lost or no answer came; " +
			"such a message is counted once in all other columns.")
	}
	if anyLoad(points, wasDropped) {
		d.Say("Dropped by the client: the broker delivered them, and the client library dropped them inside the generator's process, " +
			"because a consumer did not keep up.")
	}
	if anyLoad(points, orderUnknown) {
		d.Say("Several agents received messages of one stream in an order that their clocks do not show: " +
			"the count of reordered messages is a lower bound.")
	}
}

// streamsSentence says which faults the tables of streams leave out. It is empty if they show all.
func streamsSentence(accounts []account) string {
	hasTable := func(a account) bool { return len(a.streams()) > 0 }
	lacksTable := func(a account) bool { return !hasTable(a) && hasDeviations(a.load.Record) }
	anyTable := slices.ContainsFunc(accounts, hasTable)
	switch {
	case slices.ContainsFunc(accounts, lacksTable) && anyTable:
		return "Which streams the faults of other repetitions were in was not recorded."
	case slices.ContainsFunc(accounts, lacksTable):
		return "Which streams the faults were in was not recorded."
	case anyTable:
		return ""
	}
	return noFaultSentence(accounts)
}

// noFaultSentence says of accounts without any fault how much that tells. It is empty if nothing was counted.
func noFaultSentence(accounts []account) string {
	if !slices.ContainsFunc(accounts, account.isCounted) {
		return ""
	}
	anyOrderUnknown := slices.ContainsFunc(accounts, func(a account) bool { return orderUnknown(a.load.Record) })
	switch {
	case !allCounted(accounts) && anyOrderUnknown:
		return "No stream that was counted is known to have a fault."
	case !allCounted(accounts):
		return "No stream that was counted shows a fault."
	case anyOrderUnknown:
		return "No stream is known to have a fault: nothing was lost, duplicated or corrupted."
	}
	return "No stream shows a fault: nothing was lost, duplicated, reordered or corrupted."
}

func allCounted(accounts []account) bool {
	return !slices.ContainsFunc(accounts, func(a account) bool { return !a.isCounted() })
}

// account holds the books of one repetition of a point under one load.
type account struct {
	point results.Point
	load  results.RepetitionLoad // its record has a result
}

// accountsOf lists the repetitions that have a result, and the rates of their curves at which anything was counted. Publications
// have no books.
func accountsOf(points []results.Point) []account {
	var accounts []account
	for _, p := range points {
		if p.Published() {
			continue
		}
		for _, r := range p.Records {
			for _, l := range results.Loads(r) {
				ofCurve, a := l.Rate > 0, account{point: p, load: l}
				if l.Record.Result != nil && (a.isCounted() || !ofCurve) {
					accounts = append(accounts, a)
				}
			}
		}
	}
	return accounts
}

// isCounted reports whether there are books: a tool that doesn't count, or a repetition that sent nothing, has none.
func (a account) isCounted() bool { return booksOf(a.load.Record) != results.Books{} }

// countCell is a count of messages, in parentheses if it counts nowhere; blank if nothing was counted.
func (a account) countCell(key string) document.Cell {
	if !a.isCounted() {
		return document.Cell{}
	}
	return countCell(a.load.Record.Result.Books, key).Excluded(a.countsNothing())
}

// countsNothing reports whether the counts are no fact about the broker: only those of repetitions that ended ok or failed are.
func (a account) countsNothing() bool {
	status := a.load.Record.Status
	return status != results.OK && status != results.Failed
}

// streams are those with a fault. Others are not recorded.
func (a account) streams() []results.Stream { return a.load.Record.Result.Streams }

func (a account) statusCell() document.Cell {
	r := a.load.Record
	return document.Text(results.Ending(string(r.Status), []results.Record{r})).Toned(statusTones[r.Status])
}

// bookColumns identify the repetition and count its messages. Columns that would be empty or repeat
// another one are for programs only.
func bookColumns(points []results.Point) []columnOf[account] {
	onlyFirst := !anyLoad(points, isLaterRepetition)
	identity := []columnOf[account]{
		textColumn(document.Column{Key: "broker", Name: "broker", Identifies: true}, func(a account) string { return a.point.Name }),
		textColumn(document.Column{Key: "setting", Name: "messages", Identifies: true}, func(a account) string { return a.point.Setting() }),
		textColumn(document.Column{Key: "load", Name: "load", Identifies: true}, func(a account) string { return a.load.RowTitle }),
		numberColumn(document.Column{Key: "repetition", Name: "rep.", Unit: unit.Count, Identifies: true, MachinesOnly: onlyFirst},
			func(a account) int { return a.load.Record.Repetition }),
		cellColumn(document.Column{Key: "status", Name: "status", Attribute: true}, account.statusCell),
	}
	allSent := !anyLoad(points, leftUnsent)
	hidden := hiddenColumns{
		results.KeyDue:      allSent,
		results.KeyUnsent:   allSent,
		results.KeyResent:   !anyLoad(points, wasResent),
		results.KeyDropped:  !anyLoad(points, wasDropped),
		results.KeyExpected: !anyLoad(points, expectsOtherThanSent),
	}
	return append(identity, metricColumns(bookKeys, hidden, account.countCell)...)
}

// bookKeys are the keys of the counts of a repetition.
var bookKeys = []string{
	results.KeyDue, results.KeyUnsent, results.KeySent,
	results.KeyAcked, results.KeyFailed, results.KeyResent, results.KeyUnresolved,
	results.KeyExpected, results.KeyReceived, results.KeyLost, results.KeyLostAcked,
	results.KeyDropped, results.KeyDuplicated, results.KeyReordered, results.KeyCorrupted,
}

func (a account) streamTable() document.Table {
	title := fmt.Sprintf("Faults: %s, %s, %s, repetition %d",
		a.point.Name, a.point.Setting(), a.load.RowTitle, a.load.Record.Repetition)
	return tableOf(title, streamColumns, a.streams())
}

var streamColumns = slices.Concat(
	[]columnOf[results.Stream]{
		numberColumn(document.Column{Key: "producer", Name: "producer", Unit: unit.Count, Identifies: true},
			func(s results.Stream) int { return s.Producer }),
		textColumn(document.Column{Key: "topic", Name: "topic", Identifies: true}, func(s results.Stream) string { return s.Topic }),
		textColumn(document.Column{Key: "subscription", Name: "subscription", Identifies: true},
			func(s results.Stream) string { return s.Subscription }),
	},
	countColumns(streamKeys, nil, func(s results.Stream) results.Books { return s.Books }),
	[]columnOf[results.Stream]{textColumn(document.Column{Key: "lost_ranges", Name: "lost sequence numbers"}, lostRanges)},
)

// streamKeys are the keys of the counts of a stream. Which stream messages were due in, sent again in or dropped from
// is not recorded.
var streamKeys = slices.DeleteFunc(slices.Clone(bookKeys), func(key string) bool {
	return slices.Contains([]string{results.KeyDue, results.KeyUnsent, results.KeyResent, results.KeyDropped}, key)
})

// lostRanges lists the first ranges of lost sequence numbers: "17–18 9120 …". The dots are for ranges
// that weren't recorded.
func lostRanges(s results.Stream) string {
	var texts []string
	for _, r := range s.LostRanges {
		first, last := r[0], r[1]
		if first == last {
			texts = append(texts, fmt.Sprint(first))
		} else {
			texts = append(texts, fmt.Sprintf("%d–%d", first, last))
		}
	}
	if s.LostRangesCut {
		texts = append(texts, "…")
	}
	return strings.Join(texts, " ")
}
