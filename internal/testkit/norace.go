//go:build !race

package testkit

import "time"

// Racing reports whether the race detector is built in: everything takes some ten times as long then.
const Racing = false

// Within returns the longest that something may take: d.
func Within(d time.Duration) time.Duration { return d }
