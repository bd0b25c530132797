package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/suggest"
)

// listGuarantees makes the matrix of guarantees: how each broker keeps each, or why it doesn't. args are none or one broker.
func listGuarantees(args []string) (document.Document, error) {
	d := document.Document{Title: "Guarantees"}
	names := driver.Names()
	if len(args) == 1 {
		if _, err := driver.Lookup(args[0]); err != nil {
			return d, badInput("%w%s", err, suggest.DidYouMean(args[0], driver.Names()))
		}
		names = args
		d.Title = "Guarantees of " + args[0]
	}
	t := document.Table{Columns: []document.Column{
		{Key: "broker", Name: "broker", Identifies: true, MachinesOnly: len(args) == 1},
		{Key: "guarantee", Name: "guarantee", Identifies: true},
		{Key: "delivery", MachinesOnly: true},
		{Key: "persistence", MachinesOnly: true},
		{Key: "replicas", MachinesOnly: true},
		{Key: "acks", MachinesOnly: true},
		{Key: "ordering", MachinesOnly: true},
		{Key: "kept", Name: "kept"},
		{Key: "how", MachinesOnly: true},
		{Key: "proof", MachinesOnly: true},
		{Key: "answer", Name: "how [proved by], or why not", Wide: true},
	}}
	for _, name := range names {
		kind, err := driver.Lookup(name)
		if err != nil {
			return d, err
		}
		for _, row := range driver.Rows(kind.Matrix()) {
			t.AddWords(guaranteeRow(name, row)...)
		}
	}
	d.Add(t)
	d.Say("Settings are those of the client and the server with everything else at its default. " +
		"All of them follow from the guarantee. Every row that is kept is proved on a running broker by the tests of brokers/BROKER: " +
		"ledger = every message accounted for; kill -9 = what was acknowledged is there after the broker was killed and started again; " +
		"flushes counted = at least one flush to the disk for each acknowledgement; leader killed = what a quorum of copies acknowledged is there while the leader's node is down. " +
		"Under load: brokermark run proof/BROKER.")
	return d, nil
}

// guaranteeRow returns the words of a row in the order of the columns.
func guaranteeRow(broker string, row driver.Row) []string {
	first := row.Cells[0]
	kept, how, proof := "yes", driver.NativeText(row.Native), strings.Join(proofs(broker, row), ", ")
	answer := how + " [" + proof + "]"
	if first.Refusal != nil {
		kept, how, proof, answer = "no", first.Refusal.Error(), "", first.Refusal.Error()
	}
	return []string{
		broker, guaranteeText(row), row.Delivery, row.Persistence, row.Replicas, row.Acks, row.Ordering, kept, how, proof, answer,
	}
}

// guaranteeText names the dimensions of a guarantee that make a difference, such as "at-least-once, log; replicas: 3".
func guaranteeText(row driver.Row) string {
	const anyWord = "any" // all words of a dimension
	words := slices.DeleteFunc([]string{row.Delivery, row.Persistence}, func(word string) bool { return word == anyWord })
	text := cmp.Or(strings.Join(words, ", "), "everything")
	if row.Acks != anyWord {
		text += "; acks: " + row.Acks
	}
	if row.Replicas != anyWord {
		text += "; replicas: " + row.Replicas
	}
	if row.Ordering != anyWord {
		text += "; " + row.Ordering
	}
	return text
}

// proofs returns what proves the guarantees of a row's cells, each once. A broker inside this process can't be killed.
func proofs(broker string, row driver.Row) []string {
	p, err := catalog.Lookup(broker)
	if err != nil || p.Recipe == nil {
		return []string{string(driver.ProofLedger)}
	}
	all := []driver.Proof{driver.ProofLedger, driver.ProofKill, driver.ProofFlush, driver.ProofLeader}
	given := lists.Filter(all, func(proof driver.Proof) bool {
		return slices.ContainsFunc(row.Cells, func(c driver.Cell) bool { return slices.Contains(p.Driver.Proofs(c.Guarantee), proof) })
	})
	return lists.Map(given, func(proof driver.Proof) string { return string(proof) })
}
