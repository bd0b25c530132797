// Package livetest is what the live tests of all drivers share: real brokers, started and broken, the conformance suite on
// them, refusals, and the books of what a test sends and receives. It knows nothing of any particular broker.
package livetest

import (
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// Guarded returns o with everything demanded of clients: TLS, a client certificate, and a login.
func Guarded(o provision.Options) provision.Options {
	o.Mutual, o.Login = true, &provision.Login{User: "benchmark", Password: "sesame-0pen"}
	return o
}

// Cost reads what the instance has used.
func Cost(in *provision.Instance) drivertest.Cost {
	u := in.Meter().Sample()
	return drivertest.Cost{CPU: u.User + u.System, Memory: u.RSSBytes, Data: in.Meter().DataBytes(), Written: max(0, u.DiskWriteBytes)}
}
