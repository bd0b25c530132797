package pulsar

import (
	"errors"
	"maps"
	"testing"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

var (
	atMost  = livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksNone, driver.Ordered)
	atLeast = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
	exactly = livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
	memory  = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Unordered)
)

func unordered(g driver.Guarantee) driver.Guarantee {
	g.Ordering = driver.Unordered
	return g
}

func copies(g driver.Guarantee, n int) driver.Guarantee {
	g.Replicas = n
	return g
}

func decode(t *testing.T, given map[string]any) driver.Values {
	t.Helper()
	return livetest.Values(t, "pulsar", driver.ClientScope, given)
}

func TestWhatPulsarCannotPromiseIsRefusedByName(t *testing.T) {
	for name, c := range map[string]struct {
		g      driver.Guarantee
		client map[string]any
		names  string // "" where the point is accepted
	}{
		"memory, at least once":           {g: livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Ordered), names: "persistence: memory with delivery: at-least-once"},
		"memory, three copies":            {g: copies(memory, 3), names: "replicas: 3 with persistence: memory"},
		"flushed, no answer":              {g: livetest.Guarantee(driver.AtMostOnce, driver.Fsync, driver.AcksNone, driver.Ordered), names: "persistence: fsync with acks: none"},
		"at least once, no answer":        {g: livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksNone, driver.Ordered), names: "acks: none"},
		"exactly once, no answer":         {g: livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksNone, driver.Ordered), names: "acks: none"},
		"ordered, taking turns":           {g: atLeast, client: map[string]any{"subscriptionType": "Shared"}, names: "client.subscriptionType: Shared"},
		"keys apart, batches mixed":       {g: atLeast, client: map[string]any{"subscriptionType": "Key_Shared", "batchBuilder": "DEFAULT"}, names: "client.batchBuilder: DEFAULT"},
		"exactly once, given up":          {g: exactly, client: map[string]any{"sendTimeout": "30s"}, names: "client.sendTimeout"},
		"at most once, waiting":           {g: atMost, client: map[string]any{"maxPendingMessages": 10}, names: "client.maxPendingMessages"},
		"a delay that the client ignores": {g: atLeast, client: map[string]any{"batchingMaxPublishDelay": "0s"}, names: "client.batchingMaxPublishDelay: 0s"},
		"no queue":                        {g: atLeast, client: map[string]any{"receiverQueueSize": 0}, names: "client.receiverQueueSize"},
		"no time":                         {g: atLeast, client: map[string]any{"operationTimeout": "0s"}, names: "client.operationTimeout and keepAliveInterval"},
		"a batch beyond 2 GiB":            {g: atLeast, client: map[string]any{"batchingMaxSize": 1 << 32}, names: "client.batchingMaxSize"},
		"in transactions":                 {g: exactly, client: map[string]any{"transactions": true}, names: "client.transactions: true"},
		"memory, at most once":            {g: memory},
		"at most once":                    {g: atMost},
		"exactly once":                    {g: exactly},
		"keys apart":                      {g: exactly, client: map[string]any{"subscriptionType": "Key_Shared"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := livetest.Kind(t, "pulsar").Open(t.Context(), livetest.Config(t, "pulsar", driver.Target{Addresses: []string{"127.0.0.1:1"}}, c.g, c.client, nil))
			var refusal *driver.ErrUnsupported
			switch {
			case c.names == "" && errors.As(err, &refusal):
				t.Errorf("refused: %v", err)
			case c.names != "" && (!errors.As(err, &refusal) || refusal.Setting != c.names):
				t.Errorf("answered with %v; want %q refused", err, c.names)
			}
		})
	}
}

// requireRefusal sets up under g, which must be refused by that name.
func requireRefusal(t *testing.T, target driver.Target, g driver.Guarantee, name string) {
	t.Helper()
	livetest.Refused(t, livetest.SetupError(t, "pulsar", livetest.Config(t, "pulsar", target, g, nil, nil), livetest.Topic("refused", 1)), name)
}

func TestGuaranteesReachTheNamespace(t *testing.T) {
	leader := atLeast
	leader.Acks = driver.AcksLeader
	for name, c := range map[string]struct {
		g                                   driver.Guarantee
		ensemble, writeQuorum, answerQuorum int
		deduplicated                        bool
	}{
		"one copy":             {atLeast, 1, 1, 1, false},
		"three, majority":      {copies(atLeast, 3), 3, 3, 2, false},
		"three, the first":     {copies(leader, 3), 3, 3, 1, false},
		"four, majority":       {copies(exactly, 4), 4, 4, 3, true},
		"three, nobody asked":  {copies(atMost, 3), 3, 3, 1, false},
		"exactly once, single": {exactly, 1, 1, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{config: livetest.Config(t, "pulsar", driver.Target{}, c.g, nil, nil)}
			p := s.policies()
			storage := p["persistence"].(map[string]any)
			if storage["bookkeeperEnsemble"] != c.ensemble || storage["bookkeeperWriteQuorum"] != c.writeQuorum || storage["bookkeeperAckQuorum"] != c.answerQuorum {
				t.Errorf("%v; want %d, %d, %d", storage, c.ensemble, c.writeQuorum, c.answerQuorum)
			}
			if p["deduplicationEnabled"] != c.deduplicated {
				t.Errorf("deduplication: %v, want %v", p["deduplicationEnabled"], c.deduplicated)
			}
		})
	}
}

func TestOrderingChoosesTheSubscription(t *testing.T) {
	for name, c := range map[string]struct {
		g     driver.Guarantee
		asked string
		want  client.SubscriptionType
	}{
		"ordered":            {atLeast, "auto", client.Failover},
		"unordered":          {unordered(atLeast), "auto", client.Shared},
		"asked for":          {unordered(atLeast), "Exclusive", client.Exclusive},
		"ordered, keys":      {atLeast, "Key_Shared", client.KeyShared},
		"unordered, no turn": {unordered(exactly), "Failover", client.Failover},
	} {
		if got := subscriptionType(c.g, decode(t, map[string]any{"subscriptionType": c.asked})); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestSettingsReachTheClient(t *testing.T) {
	o := producerOptions(atLeast, decode(t, nil), 500)
	if o.MaxPendingMessages != 500 || o.SendTimeout >= 0 || o.DisableBatching || o.BatcherBuilderType != client.DefaultBatchBuilder {
		t.Errorf("by default: %+v", o)
	}
	o = producerOptions(atLeast, decode(t, map[string]any{
		"maxPendingMessages": 7, "sendTimeout": "3s", "batchingEnabled": false, "compressionType": "ZSTD", "subscriptionType": "Key_Shared",
	}), 500)
	if o.MaxPendingMessages != 7 || o.SendTimeout != 3*time.Second || !o.DisableBatching || o.CompressionType != client.ZSTD || o.BatcherBuilderType != client.KeyBasedBatchBuilder {
		t.Errorf("as asked for: %+v", o)
	}
}

type partitions uint32

func (n partitions) NumPartitions() uint32 { return uint32(n) }

func TestOrderedMessagesWithoutKeyStayInOnePartition(t *testing.T) {
	const n = 7
	route := pinned(10)
	for range 100 {
		if got := route(&client.ProducerMessage{}, partitions(n)); got != 3 {
			t.Fatalf("producer 10 of %d partitions sent to %d, want 3", n, got)
		}
	}
	usual := client.NewDefaultRouter(func(s string) (h uint32) {
		for _, c := range []byte(s) {
			h = 31*h + uint32(c)
		}
		return h
	}, 1, 1, time.Second, true)
	for _, key := range []string{"a", "a key", "\xff\x00"} {
		if got, want := route(&client.ProducerMessage{Key: key}, partitions(n)), usual(&client.ProducerMessage{Key: key}, n); got != want {
			t.Errorf("key %q went to partition %d, to %d with Pulsar's own router", key, got, want)
		}
	}
}

func TestPausesGrowToASecondAndBeginAnew(t *testing.T) {
	p := &pauses{}
	if p.Next() != firstPause || p.Next() != 2*firstPause {
		t.Error("the first two pauses are wrong")
	}
	for range 10 {
		p.Next()
	}
	if p.Next() != lastPause || !p.IsMaxBackoffReached() {
		t.Error("pauses don't stay at the longest")
	}
	if p.Reset(); p.Next() != firstPause {
		t.Error("pauses don't begin anew")
	}
}

func TestEveryGuaranteeThatIsKeptSaysByWhatSettings(t *testing.T) {
	for name, c := range map[string]struct {
		g    driver.Guarantee
		want string
	}{
		"in memory": {memory, "producer: no reconnecting, SendAsync, its answer ignored; consumer: subscriptionType=Shared; topic: non-persistent://"},
		"exactly once on three": {copies(exactly, 3), "producer: sendTimeout=0s, one partition per producer or key; " +
			"consumer: subscriptionType=Failover, acknowledged after delivery, no place delivered twice; " +
			"topic: bookkeeperEnsemble=3, bookkeeperWriteQuorum=3, bookkeeperAckQuorum=2, deduplicationEnabled=true; server: journalSyncData=false"},
		"flushed": {
			livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered),
			"producer: sendTimeout=0s; consumer: subscriptionType=Shared, acknowledged after delivery; " +
				"topic: bookkeeperEnsemble=1, bookkeeperWriteQuorum=1, bookkeeperAckQuorum=1, deduplicationEnabled=false; server: journalSyncData=true",
		},
	} {
		if got := driver.NativeText(natives(c.g)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestAServerForFlushedMessagesIsStartedSoOrRefused(t *testing.T) {
	fsync := livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksQuorum, driver.Ordered)
	for name, c := range map[string]struct {
		g     driver.Guarantee
		asked map[string]any
		want  map[string]any // nil: refused
	}{
		"against the spec":  {g: fsync, asked: map[string]any{journalSync: false}},
		"nothing asked for": {g: fsync, want: map[string]any{journalSync: true}},
		"asked for":         {g: fsync, asked: map[string]any{journalSync: true}, want: map[string]any{journalSync: true}},
		"other settings":    {g: fsync, asked: map[string]any{"jvm.Xmx": "1g"}, want: map[string]any{journalSync: true, "jvm.Xmx": "1g"}},
		"more than needed":  {g: atLeast, asked: map[string]any{journalSync: true}, want: map[string]any{journalSync: true}},
		"not needed":        {g: atLeast, asked: map[string]any{}, want: map[string]any{}},
	} {
		got, err := completed(c.g, c.asked)
		var refusal *driver.ErrUnsupported
		if !maps.Equal(got, c.want) || c.want == nil != errors.As(err, &refusal) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}
