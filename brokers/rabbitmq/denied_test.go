package rabbitmq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver/rabbittest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestWhatAUserMayNotDoIsSaidInTheBrokersWords(t *testing.T) {
	_, target := livetest.Start(t, rabbittest.Managed("rabbitmq"))
	reader := rabbittest.User(t, target, "reader", rabbittest.Rights{Configure: ".*", Read: ".*"})
	writer := rabbittest.User(t, target, "writer", rabbittest.Rights{Configure: ".*", Write: ".*"})
	const refused = "ACCESS_REFUSED"
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq")},
		drivertest.Denial{Name: "at least once without write", Target: reader, Guarantee: logged, Says: refused},
		drivertest.Denial{Name: "ordered without write", Target: reader, Guarantee: ordered, Says: refused},
		drivertest.Denial{Name: "at most once without write", Target: reader, Guarantee: fast, Says: refused},
		drivertest.Denial{Name: "without read", Target: writer, Guarantee: logged, Says: refused},
	)
}

func TestAnAlarmIsSaidInTheBrokersWords(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq", Server: map[string]any{"disk_free_limit.absolute": "1000TB"}})
	var denials []drivertest.Denial
	for _, g := range []driver.Guarantee{logged, fast} {
		denials = append(denials, drivertest.Denial{Name: string(g.Delivery), Target: target, Guarantee: g, Says: "connection.blocked: low on disk", Held: true})
	}
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq")}, denials...)
}
