package rabbitmq

import (
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: "rabbitmq", Driver: driverKind(), Recipe: recipe(), Tools: []maker.Tool{perfTest()},
		Defaults: usual.Defaults{Tuning: rabbitserver.Tuning(), Persistence: usual.MemoryAtMostOnce, Speed: usual.Speed{
			Rate: 25_000, Flushed: 5000, Alone: 0.001, Start: 8, Flushes: "3.",
		}},
	})
}
