package jetstream

import (
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: "jetstream", Driver: driverKind(), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.MemoryAtMostOnce, Speed: usual.Speed{Rate: 50_000, Flushed: 2000, Alone: 0.0003, Start: 1}},
	})
}
