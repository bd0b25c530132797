package rocketmq

import (
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: "rocketmq", Driver: driverKind(), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.Log, Speed: usual.Speed{Rate: 10_000, Flushed: 1000, Alone: 0.005, Start: 8}},
	})
}
