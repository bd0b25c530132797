package jetstream_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/brokers/internal/natsio/natstest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestWhatAUserMayNotDoIsSaidInTheServersWords(t *testing.T) {
	denied := func(subject string) driver.Target {
		return natstest.Restricted(t, "jetstream", map[string]any{"publish": map[string]any{"deny": subject}})
	}
	messages := denied("*") // of one token; those of the API and of inboxes have several
	tuned := map[string]any{"mode": driver.Tuned}
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "jetstream")},
		drivertest.Denial{Name: "publish at least once", Target: messages, Guarantee: fileLeast, Says: `Permissions Violation for Publish to "dt-`},
		drivertest.Denial{Name: "publish at most once", Target: messages, Guarantee: memoryOnce, Says: `Permissions Violation for Publish to "dt-`},
		drivertest.Denial{Name: "publish with the tuned client", Target: messages, Guarantee: fileLeast, Client: tuned, Says: `Permissions Violation for Publish to "dt-`},
		drivertest.Denial{Name: "make streams", Target: denied("$JS.API.STREAM.CREATE.>"), Guarantee: fileLeast, Says: `Publish to "$JS.API.STREAM.CREATE.`},
		drivertest.Denial{Name: "ask for messages", Target: denied("$JS.API.CONSUMER.MSG.NEXT.>"), Guarantee: fileLeast, Says: `Publish to "$JS.API.CONSUMER.MSG.NEXT.`},
	)
}

// What the stream knows a message by goes into a header, which the server's limit counts.
func TestAPayloadThatFitsOnlyWithoutItsHeaderIsRefused(t *testing.T) {
	const limit = 100_000
	_, target := livetest.Start(t, provision.Options{Broker: "jetstream", Server: map[string]any{"max_payload": limit}})
	head := natsio.WithID(0)
	for size, fits := range map[int]bool{limit - head: true, limit - head + 1: false} {
		for _, mode := range []string{driver.Stock, driver.Tuned} {
			c := livetest.Config(t, "jetstream", target, exactlyOnce, map[string]any{"mode": mode}, nil)
			d := livetest.SetUp(t, "jetstream", c, livetest.Topic("sized-"+mode, 1))
			r := livetest.NewBook(t, 1, 0)
			p, err := d.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: 1, MaxBytes: size}, r)
			if !fits {
				livetest.Says(t, err, "the server takes at most 100000 bytes")
				continue
			}
			livetest.Must(t, err)
			payload := string(make([]byte, size))
			livetest.Must(t, r.Send(t.Context(), p, driver.Message{Payload: []byte(payload)}))
			livetest.Must(t, r.Fates(t, payload))
			livetest.Must(t, p.Close())
		}
	}
}
