//go:build !race

package testkit

// Racing tells that the race detector is built in: everything takes some ten times as long then.
const Racing = false
