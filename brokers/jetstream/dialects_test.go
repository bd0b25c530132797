package jetstream

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

func TestClientSettingsArePastedWithWhatWasInForce(t *testing.T) {
	settings := slices.Concat(clientSettings, natsio.ConnectionSettings(-1))
	for _, fetching := range []bool{false, true} {
		said := map[string]bool{}
		for _, p := range phrases(fetching) {
			said[p.Setting] = true
			if len(p.Words) != len(dialects) || slices.Contains(p.Words, "") && p.Else == "" {
				t.Errorf("%s: not in %d libraries, or nothing says what to do instead", p.Setting, len(dialects))
			}
		}
		for _, s := range settings {
			if said[s.Name] == slices.Contains(elsewhere, s.Name) {
				t.Errorf("%s: in other words %v", s.Name, said[s.Name])
			}
		}
	}
	least := driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksLeader, Persistence: driver.Log, Replicas: 1, Ordering: driver.Unordered}
	once, most := least, driver.Guarantee{Delivery: driver.AtMostOnce, Acks: driver.AcksNone, Persistence: driver.Log, Replicas: 1, Ordering: driver.Unordered}
	once.Delivery = driver.ExactlyOnce
	for name, c := range map[string]struct {
		g      driver.Guarantee
		client map[string]any
		has    [2]string // Java, Go
		not    string
	}{
		"usual": {least, nil, [2]string{
			"reconnectBufferSize(0)|.durable(…)|AckPolicy.Explicit)|.ackWait(30000)|.maxAckPending(10000)|.batchSize(2000)|.expiresIn(30000)|Without: PublishAsyncTimeout 5000: the application sends again|PullHeartbeat 1000: jnats derives it",
			"nats.ReconnectBufSize(-1)|nats.PingInterval(120000 * time.Millisecond)|jetstream.WithPublishAsyncTimeout(5000 * time.Millisecond)|jetstream.AckExplicitPolicy|AckWait: 30000 * time.Millisecond|jetstream.PullMaxMessages(2000)|jetstream.PullHeartbeat(1000 * time.Millisecond)",
		}, "essageId"},
		"in batches": {least, map[string]any{"consume": "fetch", "PullMaxMessages": 50, "AckPolicy": "all"}, [2]string{
			"consumerContext.fetch(|FetchConsumeOptions.builder().maxMessages(50)|AckPolicy.All)", "consumer.Fetch(50)|jetstream.AckAllPolicy|jetstream.FetchHeartbeat(",
		}, "jetstream.Pull"},
		"exactly once":  {once, nil, [2]string{".messageId(…) // one for each message", "jetstream.WithMsgID(…)"}, "AckNone"},
		"nothing acked": {most, map[string]any{"consumer": "ordered"}, [2]string{"createOrderedConsumer|AckPolicy.None)", "stream.OrderedConsumer(|jetstream.AckNonePolicy"}, "axAckPending"},
	} {
		v, err := driver.Decode(settings, driver.ClientScope, c.client)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pasted(c.g, v, 100) {
			all := p.Text + "Without: " + strings.Join(p.Without, "\n")
			for want := range strings.SplitSeq(c.has[i], "|") {
				if !strings.Contains(all, want) {
					t.Errorf("%s, %s: no %q in\n%s", name, p.Library, want, all)
				}
			}
			if strings.Contains(all, c.not) || strings.Contains(all, "%!") {
				t.Errorf("%s, %s: %q in\n%s", name, p.Library, c.not, all)
			}
		}
	}
}
