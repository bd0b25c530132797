//go:build race

package testkit

import "time"

// Racing reports whether the race detector is built in: everything takes some ten times as long then.
const Racing = true

// Within returns the longest that something may take: far longer than d under the race detector, where no figure is judged.
func Within(d time.Duration) time.Duration { return 100 * d }
