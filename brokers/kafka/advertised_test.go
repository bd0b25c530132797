package kafka

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAnAdvertisedAddressThatCannotBeReachedIsNamed(t *testing.T) {
	const nowhere = "127.0.0.1:1"
	told := ""
	_, target := livetest.Start(t, provision.Options{Broker: "kafka", Far: func(address string) (string, error) {
		told = address
		return nowhere, nil
	}})
	target.Addresses = []string{told}
	livetest.Misled(t, "kafka", target, atLeast, nowhere, "advertised.listeners")
}
