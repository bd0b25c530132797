package pulsar

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

const misled = "pulsar-misled"

// A recipe of its own, since nobody may set what the servers here tell their clients: 127.0.0.2, where they don't listen.
func init() {
	r := recipe()
	r.Broker, r.Configure = misled, misconfigure
	r.Ready = func(ctx context.Context, n *provision.Node) error { // its own health check doesn't reach it either
		a := adminOf(n)
		defer a.close()
		var policies any
		return a.do(ctx, http.MethodGet, "namespaces/public/default", nil, &policies)
	}
	provision.Register(*r)
}

func misconfigure(ctx context.Context, n *provision.Node) error {
	const file = "standalone.conf"
	if err := configure(ctx, n); err != nil {
		return err
	}
	text, err := n.Read(file, 1<<20)
	if err != nil {
		return err
	}
	listener := fmt.Sprintf("\nadvertisedListeners=inner:pulsar://127.0.0.2:%d\ninternalListenerName=inner\n", n.Ports["client"])
	return n.Write(file, append(text, listener...))
}

func TestAnAdvertisedAddressThatCannotBeReachedIsNamed(t *testing.T) {
	testkit.Long(t) // Kafka and RabbitMQ's streams have the same in make test
	_, target := livetest.Start(t, provision.Options{Broker: misled})
	_, port, err := net.SplitHostPort(target.Addresses[0])
	livetest.Must(t, err)
	g := livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	livetest.Misled(t, "pulsar", target, g, net.JoinHostPort("127.0.0.2", port), "advertisedAddress, advertisedListeners")
}
