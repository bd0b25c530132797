package results

import (
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/store"
)

// Reports use these names for the contents of a record. They don't import the store, which an architecture test checks.
type (
	Record      = store.Record // a repetition of a point
	Status      = store.Status
	Doubt       = store.Doubt
	Books       = store.Books
	Listened    = store.Listened
	Stream      = store.Stream // the books of one producer and subscription
	Sustainable = store.Sustainable
	Trial       = store.Trial
	Limits      = store.Limits
	Settings    = store.Settings
	Versions    = store.Versions
	Host        = store.Host
)

// ClientMode is the mode of the client library: "stock", "tuned", or "" if the record doesn't have it, as imported ones.
func ClientMode(r Record) string {
	mode, _ := r.Settings.Client["mode"].(string)
	return mode
}

// InHeader is the Record.Identity of payloads from files that were sent unchanged.
const InHeader = store.InHeader

// The ways a repetition can end.
const (
	OK      = store.OK
	Failed  = store.Failed
	Void    = store.Void
	Refused = store.Refused
	Aborted = store.Aborted

	// PublishedFigures is the status of a record that was not run here.
	PublishedFigures = store.Published
)

// Promise judges books by the guarantee of a repetition: its own books, or its books without doubtful messages.
func Promise(r Record, books Books) ledger.Verdict { return store.Promise(r.Spec, r.Failover, books) }
