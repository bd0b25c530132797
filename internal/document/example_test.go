package document_test

import (
	"os"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/unit"
)

// The second row has no figure, so its last cell is blank.
func ExampleDocument() {
	d := document.Document{Title: "Two brokers"}
	d.Say("1 of 2 points was measured.")
	d.Add(document.Table{
		Columns: []document.Column{
			{Key: "broker", Name: "broker", Identifies: true},
			{Key: "e2e_p99_ns", Name: "e2e p99", Unit: unit.Nanoseconds},
		},
		Rows: []document.Row{
			{"broker": document.Text("kafka"), "e2e_p99_ns": document.Number(13.1e6)},
			{"broker": document.Text("nats")},
		},
	})
	_ = render.Render(os.Stdout, d, "markdown", render.Options{})

	// Output:
	// # Two brokers
	//
	// 1 of 2 points was measured.
	//
	// | broker | e2e p99 |
	// |:--|--:|
	// | kafka | 13.1 ms |
	// | nats | – |
}
