package activemq

import (
	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: product.Name, Driver: amqp10.Kind(product), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.MemoryAtMostOnce, Speed: usual.Speed{Rate: 10_000, Flushed: 700, Alone: 0.0015, Start: 5, Flushes: usual.EveryVersion}},
	})
}
