package rabbitmqstream

import (
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: broker, Driver: driverKind(), Recipe: recipe(),
		Defaults: usual.Defaults{Tuning: rabbitserver.Tuning(), Persistence: usual.Log, Speed: usual.Speed{Rate: 200_000, Alone: 0.001, Start: 8}},
	})
}
