package pulsar

import (
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

const upstream = "until apache/pulsar-client-go issue 1498 is mended"

func TestWhatNeedsTransactionsIsRefusedWithTheIssueOfTheLibrary(t *testing.T) {
	inTransactions := map[string]any{"transactions": true}
	for name, c := range map[string]struct {
		g       driver.Guarantee
		client  map[string]any
		relays  int
		refused string // "": it fits
	}{
		"transactions":                 {g: exactly, client: inTransactions, refused: "client.transactions: true"},
		"transactions, at least once":  {g: atLeast, client: inTransactions, refused: "client.transactions: true"},
		"transactions, spelled as 1":   {g: exactly, client: map[string]any{"transactions": 1}, refused: "client.transactions: true"},
		"transactions, stock client":   {g: exactly, client: map[string]any{"transactions": true, "mode": "stock"}, refused: "client.transactions: true"},
		"relays, ordered":              {g: exactly, relays: 2, refused: "relays: 2 with delivery: exactly-once"},
		"relays, unordered":            {g: unordered(exactly), relays: 1, refused: "relays: 1 with delivery: exactly-once"},
		"transactions, false":          {g: exactly, client: map[string]any{"transactions": false}},
		"exactly once without either":  {g: exactly},
		"relays, at least once":        {g: atLeast, relays: 2},
		"relays, at least once, stock": {g: atLeast, client: map[string]any{"mode": "stock"}, relays: 2},
	} {
		t.Run(name, func(t *testing.T) {
			err := refusalOf(t, c.g, c.client, c.relays)
			if c.refused == "" {
				livetest.Must(t, err)
				return
			}
			livetest.Refused(t, err, c.refused)
			if text := fmt.Sprint(err); strings.Count(text, upstream) != 1 {
				t.Errorf("%q doesn't say once: %s", text, upstream)
			}
		})
	}
}

func TestRelaysAreRefusedWhereTheyKeepLess(t *testing.T) {
	livetest.Refused(t, refusalOf(t, atMost, nil, 2), "relays: 2")
	exclusive := map[string]any{"subscriptionType": "Exclusive"}
	livetest.Refused(t, refusalOf(t, atLeast, exclusive, 2), "client.subscriptionType: Exclusive")
	livetest.Must(t, refusalOf(t, atLeast, exclusive, 1))
}

// refusalOf returns what check says of a point with these relays.
func refusalOf(t *testing.T, g driver.Guarantee, client map[string]any, relays int) error {
	t.Helper()
	return livetest.Kind(t, "pulsar").Refusal(livetest.Config(t, "pulsar", driver.Target{}, g, client, nil), driver.Shape{
		Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, Relays: relays, MaxBytes: 100, InFlight: 1,
	})
}

// A relay is a process of its own, which asks the driver without check.
func TestARelayThatNeedsTransactionsDoesNotBegin(t *testing.T) {
	s := &session{config: livetest.Config(t, "pulsar", driver.Target{}, unordered(exactly), nil, nil)}
	s.topology.Topics = []driver.Topic{{Name: "in", Partitions: 1, Out: "out"}}
	err := s.Relay(t.Context(), driver.RelayConfig{ID: 1}, func() { t.Error("it is ready") })
	livetest.Refused(t, err, "relays: 1 with delivery: exactly-once")
}
