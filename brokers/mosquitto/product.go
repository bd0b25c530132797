package mosquitto

import (
	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: product.Name, Driver: mqtt.Kind(product), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.Memory, Speed: usual.Speed{Rate: 15_000, Alone: 0.0003, Start: 1}},
	})
}
