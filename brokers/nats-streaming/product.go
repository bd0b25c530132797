package natsstreaming

import (
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: "nats-streaming", Driver: driverKind(), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: tuning(), Persistence: usual.MemoryAtMostOnce, Speed: usual.Speed{Rate: 20_000, Flushed: 2000, Alone: 0.001, Start: 1}},
	})
}
