//go:build !linux || portable

package provision

// trimLog does nothing: brokers with a log of their own can't be started on this system.
func trimLog() {}
