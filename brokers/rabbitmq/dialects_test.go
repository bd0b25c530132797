package rabbitmq

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestClientSettingsArePastedWithWhatWasInForce(t *testing.T) {
	said := map[string]bool{}
	for _, p := range phrases {
		said[p.Setting] = true
		if len(p.Words) != 3 || slices.Contains(p.Words, "") && p.Else == "" {
			t.Errorf("%s: not in three libraries, or nothing says what to do instead", p.Setting)
		}
	}
	for _, s := range settings {
		if s.Scope == driver.ClientScope && said[s.Name] == slices.Contains(elsewhere, s.Name) {
			t.Errorf("%s: in other words %v", s.Name, said[s.Name])
		}
	}
	confirmed := driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksLeader, Persistence: driver.Log, Replicas: 1, Ordering: driver.Ordered}
	lost := driver.Guarantee{Delivery: driver.AtMostOnce, Acks: driver.AcksNone, Persistence: driver.Memory, Replicas: 1, Ordering: driver.Ordered}
	for _, c := range []struct {
		g      driver.Guarantee
		client map[string]any
		has    [3]string // Java, Python, Go
		not    string
	}{
		{confirmed, map[string]any{"prefetch": 50, "heartbeat": "20s", "mandatory": true}, [3]string{
			"factory.setRequestedHeartbeat(20);|factory.setRequestedFrameMax(131072);|channel.confirmSelect();|deliveryMode(2)|boolean mandatory = true;|boolean autoAck = false;|channel.basicQos(50);",
			"heartbeat=20|virtual_host=\"/\"|channel.confirm_delivery()|delivery_mode=2|mandatory=True|auto_ack=False|prefetch_count=50",
			"Heartbeat: 20 * time.Second|channel.Confirm(false)|DeliveryMode: 2|autoAck := false|channel.Qos(50, 0, false)",
		}, "ack.every"},
		{confirmed, map[string]any{"ack.every": 10}, [3]string{"Without: ack.every 10: the application acknowledges so many at once|Without: ack.delay 5ms: "}, ""},
		{lost, nil, [3]string{"deliveryMode(1)|boolean autoAck = true;", "auto_ack=True", "autoAck := true"}, "onfirm"},
	} {
		v, err := driver.Decode(settings, driver.ClientScope, c.client)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pasted(c.g, v, 100) {
			all := p.Text + "Without: " + strings.Join(p.Without, "\nWithout: ")
			for want := range strings.SplitSeq(c.has[i], "|") {
				if !strings.Contains(all, want) {
					t.Errorf("%s: no %q in\n%s", p.Library, want, all)
				}
			}
			if c.not != "" && strings.Contains(all, c.not) || strings.Contains(all, "%!") {
				t.Errorf("%s: %q in\n%s", p.Library, c.not, all)
			}
		}
	}
}
