package pulsar

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestClientSettingsArePastedWithWhatWasInForce(t *testing.T) {
	usual, err := driver.Decode(settings, driver.ClientScope, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, p := range phrases(usual) {
		said[p.Setting] = true
		if len(p.Words) != len(dialects) || slices.Contains(p.Words, "") && p.Else == "" {
			t.Errorf("%s: not in %d libraries, or nothing says what to do instead", p.Setting, len(dialects))
		}
	}
	for _, s := range settings {
		if s.Scope == driver.ClientScope && said[s.Name] == slices.Contains(elsewhere, s.Name) {
			t.Errorf("%s: in other words %v", s.Name, said[s.Name])
		}
	}
	unordered := driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksLeader, Persistence: driver.Log, Replicas: 1, Ordering: driver.Unordered}
	inOrder := unordered
	inOrder.Ordering = driver.Ordered
	for name, c := range map[string]struct {
		g      driver.Guarantee
		client map[string]any
		has    [2]string // Java, Go
		not    string
	}{
		"usual": {unordered, nil, [2]string{
			".operationTimeout(3000, TimeUnit.MILLISECONDS)|.memoryLimit(0, SizeUnit.BYTES)|.enableBatching(true)|.batchingMaxPublishDelay(1, TimeUnit.MILLISECONDS)|.batchingMaxBytes(131072)|BatcherBuilder.DEFAULT|CompressionType.NONE|.sendTimeout(0, TimeUnit.SECONDS)|SubscriptionType.Shared|.acknowledgmentGroupTime(100, TimeUnit.MILLISECONDS)|.maxAcknowledgmentGroupSize(1000)",
			"OperationTimeout: 3000 * time.Millisecond,|MemoryLimitBytes: -1,|DisableBatching: false,|BatchingMaxPublishDelay: 1 * time.Millisecond,|pulsar.DefaultBatchBuilder,|pulsar.NoCompression,|SendTimeout: -1,|Type: pulsar.Shared,|{MaxTime: 100 * time.Millisecond, MaxSize: 1000},",
		}, "endingMessages"},
		"no batches, in order": {inOrder, map[string]any{"batchingEnabled": false, "ackGroupingTime": "0s", "sendTimeout": "2s", "maxPendingMessages": 7}, [2]string{
			".enableBatching(false)|SubscriptionType.Failover|.maxPendingMessages(7)|.sendTimeout(2000, TimeUnit.MILLISECONDS)|.acknowledgmentGroupTime(0, ",
			"DisableBatching: true,|Type: pulsar.Failover,|MaxPendingMessages: 7,|SendTimeout: 2000 * time.Millisecond,|{MaxTime: 0 * time.Millisecond, MaxSize: 1},",
		}, "atchingMax"},
		"by key": {unordered, map[string]any{"subscriptionType": "Key_Shared", "batchingMaxPublishDelay": "1500ns", "compressionType": "ZLIB"}, [2]string{
			"SubscriptionType.Key_Shared|BatcherBuilder.KEY_BASED|.batchingMaxPublishDelay(1500, TimeUnit.NANOSECONDS)",
			"pulsar.KeyShared,|pulsar.KeyBasedBatchBuilder,|1500 * time.Nanosecond,|pulsar.ZLib,",
		}, "auto"},
	} {
		v, err := driver.Decode(settings, driver.ClientScope, c.client)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pasted(c.g, v, 100) {
			for want := range strings.SplitSeq(c.has[i], "|") {
				if !strings.Contains(p.Text, want) {
					t.Errorf("%s, %s: no %q in\n%s", name, p.Library, want, p.Text)
				}
			}
			if strings.Contains(p.Text, c.not) || strings.Contains(p.Text, "%!") || len(p.Without) > 0 {
				t.Errorf("%s, %s: %q in\n%s, without %v", name, p.Library, c.not, p.Text, p.Without)
			}
		}
	}
}
