package kafka

import (
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: "kafka", Driver: driverKind(), Recipe: recipe(), Tools: []maker.Tool{producerPerformance()},
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.Log, Sharing: usual.AnyNumber, Speed: usual.Speed{Rate: 300_000, Flushed: 5000, Alone: 0.003, Start: 7}},
	})
}
