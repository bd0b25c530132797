package hivemq

import (
	"maps"
	"slices"

	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: product.Name, Driver: mqtt.Kind(product), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: slices.Sorted(maps.Keys(known)), Persistence: usual.MemoryAtMostOnce},
	})
}
