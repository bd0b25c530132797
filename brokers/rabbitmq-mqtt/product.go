package rabbitmqmqtt

import (
	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: product.Name, Driver: mqtt.Kind(product), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: rabbitserver.Tuning(), Persistence: usual.MemoryAtMostOnce},
	})
}
