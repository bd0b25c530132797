package network

import "testing"

// Bound bounds the connections of proxies that the test starts.
func Bound(t *testing.T, connections int) {
	was := maxConnections
	maxConnections = connections
	t.Cleanup(func() { maxConnections = was })
}
