package results

import "github.com/brokermark/brokermark/internal/study"

// Pasted are client settings in the form of another library, ready to paste.
type Pasted struct {
	Library string
	Text    string
	Without []string // settings that it doesn't have, and what to do instead
}

// Paste returns the client settings of a spec, with the effective values of auto. Package cli, which knows the drivers, sets it;
// by default it returns none.
var Paste = func(study.Spec) []Pasted { return nil }
