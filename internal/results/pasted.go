package results

import "github.com/brokermark/brokermark/internal/study"

// Pasted are client settings as they are pasted into a client of another library.
type Pasted struct {
	Library string
	Text    string
	Without []string // settings that it has no counterpart for, and what to do instead
}

// Paste makes those of a spec, with what holds in place of auto. Package cli sets it, which knows the drivers; without it there are none.
var Paste = func(study.Spec) []Pasted { return nil }
