package reports

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

// driven are records of Kafka and RabbitMQ with the modes of their clients; a broker that isn't named has none, as in imported
// records.
func driven(modes map[string]string) *results.Set {
	records := slices.DeleteFunc(storetest.Demo(), func(r store.Record) bool { return r.Spec.Broker != "kafka" && r.Spec.Broker != "rabbitmq" })
	for i, r := range records {
		if mode, known := modes[r.Spec.Broker]; known {
			records[i].Settings.Client = map[string]any{"mode": mode}
		}
	}
	return results.Of(records)
}

func TestReportsSayHowTheClientsOfTheirContendersWereUsed(t *testing.T) {
	for name, c := range map[string]struct {
		modes map[string]string
		says  string
	}{
		"each its own":   {map[string]string{"kafka": "stock", "rabbitmq": "tuned"}, "Clients not alike (client.mode): stock kafka; tuned rabbitmq."},
		"one is unknown": {map[string]string{"rabbitmq": "stock"}, "Clients may not be alike (client.mode): stock rabbitmq; unknown kafka."},
		"all stock":      {map[string]string{"kafka": "stock", "rabbitmq": "stock"}, "every library is used as its documentation shows"},
		"all tuned":      {map[string]string{"kafka": "tuned", "rabbitmq": "tuned"}, "as fast as its driver can (client.mode: tuned)"},
		"none is known":  {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range []string{"headtohead", "summary"} {
				d := build(t, name, driven(c.modes).Records)
				said := ""
				for _, b := range d.Blocks {
					if b, ok := b.(document.Paragraph); ok && strings.HasPrefix(b.Text, "Clients") {
						said = b.Text
					}
				}
				if !strings.Contains(said, c.says) || c.says == "" && said != "" {
					t.Errorf("%s says %q, want %q", d.Title, said, c.says)
				}
			}
		})
	}
}

func TestAComparisonOfStockAndTunedWarnsUnlessItIsWhatIsCompared(t *testing.T) {
	stock := driven(map[string]string{"kafka": "stock"})
	later := slices.Clone(driven(map[string]string{"kafka": "tuned"}).Records)
	for i := range later {
		later[i].Began = later[i].Began.Add(24 * time.Hour) // or they would be the same repetitions
	}
	tuned := results.Of(later)
	warned := func(named ...string) bool {
		for _, b := range Compare(Side{"a", stock}, Side{"b", tuned}, named...).Blocks {
			if w, ok := b.(document.Warning); ok {
				for _, line := range w.Differ {
					if strings.Contains(line, "settings.client.mode: stock, tuned") {
						return true
					}
				}
			}
		}
		return false
	}
	if !warned() || warned("client.mode") {
		t.Errorf("warned %v, named %v; want the one and not the other", warned(), warned("client.mode"))
	}
}
