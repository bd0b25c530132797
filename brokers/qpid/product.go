package qpid

import (
	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: product.Name, Driver: amqp10.Kind(product), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.MemoryAtMostOnce},
	})
}
