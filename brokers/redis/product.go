package redis

import (
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: "redis", Driver: driverKind(), Recipe: recipe(), Tools: []maker.Tool{redisBenchmark()},
		// A read names every stream, and takes longer with more streams.
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.MemoryAtMostOnce, Sharing: 64, Speed: usual.Speed{Rate: 100_000, Flushed: 5000, Alone: 0.0002, Start: 1}},
	})
	catalog.Add(catalog.Product{
		Name: clusterName, Driver: clusterKind(), Recipe: clusterRecipe(),
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.MemoryAtMostOnce, Speed: usual.Speed{Rate: 100_000, Flushed: 5000, Alone: 0.0002, Start: 3}},
	})
	catalog.Add(catalog.Product{
		Name: "redis-pubsub", Driver: pubsubKind(), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: tuning, NoCopy: true, Persistence: usual.Memory, Speed: usual.Speed{Rate: 200_000, Alone: 0.0002, Start: 1}},
	})
}
