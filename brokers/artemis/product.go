package artemis

import (
	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: product.Name, Driver: amqp10.Kind(product), Recipe: recipe(), Tools: []maker.Tool{artemisPerf()},
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.MemoryAtMostOnce, Speed: usual.Speed{Rate: 15_000, Flushed: 2000, Alone: 0.001, Start: 6}},
	})
}
