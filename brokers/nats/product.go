package natscore

import (
	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: "nats", Driver: driverKind(), Recipe: recipe(), Tools: []maker.Tool{natsBench()},
		Defaults: usual.Defaults{Tuning: natsio.Tuning, First: true, NoCopy: true, Persistence: usual.Memory, Sharing: usual.AnyNumber, Speed: usual.Speed{Rate: 500_000, Alone: 0.0001, Start: 1}},
	})
}
