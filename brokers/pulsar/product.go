package pulsar

import (
	"embed"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{
		Name: "pulsar", Driver: driverKind(), Recipe: recipe(), Tools: []maker.Tool{pulsarPerf()},
		Defaults: usual.Defaults{Tuning: tuning, Persistence: usual.Log, Speed: usual.Speed{Rate: 50_000, Flushed: 2000, Alone: 0.005, Start: 20}},
	})
}

// locks are the SHA-256 of the files of each version.
//
//go:embed locks
var locks embed.FS
