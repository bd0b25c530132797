package pulsar

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

const (
	quota    = 100_000 // bytes
	body     = 1000    // bytes: with its metadata an entry is a little longer
	overflow = 200     // messages: twice the quota
)

// TestABacklogBeyondItsQuota shows by counts what each policy does; the server looks every second instead of every minute.
func TestABacklogBeyondItsQuota(t *testing.T) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: "pulsar", Server: small(map[string]any{
		"backlogQuotaCheckIntervalInSeconds": 1, "backlogQuotaDefaultLimitBytes": quota, "backlogQuotaDefaultRetentionPolicy": "producer_request_hold",
	})})
	t.Run("is cut down to it, and what was confirmed is lost", func(t *testing.T) { evicts(t, target) })
	t.Run("has producers wait until there is room", func(t *testing.T) { holds(t, target) })
	t.Run("has producers fail until there is room", func(t *testing.T) { refuses(t, target) })
}

// full is a rig that was sent twice its quota, which nobody consumes yet. As a rule the broker has confirmed all of it
// before it looks; when it looks in the middle, the producer is away, and some of it has no answer or has failed.
func full(t *testing.T, target driver.Target, policy string) *livetest.Rig {
	t.Helper()
	topic := map[string]any{"backlogQuota.limitSize": quota, "backlogQuota.policy": policy}
	if policy == "" {
		topic = nil // the server's
	}
	c := livetest.Config(t, "pulsar", target, atLeast, map[string]any{"batchingEnabled": false}, topic)
	r := livetest.Open(t, "pulsar", c, livetest.Topic("quota", 1, "s"))
	var payloads []string
	for i := range overflow {
		payloads = append(payloads, message(i))
	}
	r.Post(t, payloads...)
	livetest.Eventually(t, "it is confirmed, or the producer away", func() bool { return r.Count().Pending == 0 || away(t, r) })
	return r
}

func message(i int) string { return fmt.Sprintf("%0*d", body, i) }

type topicStats struct {
	Publishers    []struct{}
	Subscriptions map[string]struct{ MsgBacklog int }
}

func statsOf(t *testing.T, r *livetest.Rig) (stats topicStats) {
	t.Helper()
	s := r.Driver.(*session)
	livetest.Must(t, s.admin.do(t.Context(), http.MethodGet, s.path(0)+"/stats", nil, &stats))
	return stats
}

func away(t *testing.T, r *livetest.Rig) bool { return len(statsOf(t, r).Publishers) == 0 }

func evicts(t *testing.T, target driver.Target) {
	r := full(t, target, "consumer_backlog_eviction")
	kept := overflow
	livetest.Eventually(t, "the broker cuts the backlog down", func() bool {
		kept = statsOf(t, r).Subscriptions["s"].MsgBacklog
		return kept*body <= quota
	})
	if kept*body < quota*7/10 { // it goes down to nine tenths of the quota, the entries' metadata included
		t.Errorf("%d messages of %d bytes are left of a quota of %d", kept, body, quota)
	}
	values := r.Driver.(*session).config
	if limit := keeps(values.Client, values.Topic, body); limit.Setting == "" || limit.Messages < overflow/5 || limit.Messages > int64(kept) {
		t.Errorf("it is said to keep %+v, and kept %d", limit, kept)
	}
	r.ConsumeAll(t)
	livetest.Eventually(t, "what is left is delivered", func() bool { return r.Count().Received == kept })
	if got := r.Received(0); got[0] != message(overflow-kept) || !slices.IsSorted(got) {
		t.Errorf("%d of %d are left, the first is %s…: the oldest should have gone", kept, overflow, strings.TrimLeft(got[0], "0"))
	}
	if c := r.Count(); c.Acked != overflow || c.Failed != 0 || c.Lost != overflow-kept || c.Repeated != 0 {
		t.Errorf("%+v, want %d lost after they were confirmed", c, overflow-kept)
	}
	t.Logf("of %d confirmed messages %d were delivered and %d lost", overflow, kept, overflow-kept)
}

func holds(t *testing.T, target driver.Target) {
	r := full(t, target, "")
	livetest.Eventually(t, "the broker sends the producer away", func() bool { return away(t, r) })
	const more = 10
	before := r.Count()
	for i := range more {
		r.Post(t, message(overflow+i))
	}
	livetest.Eventually(t, "the producer comes back and is sent away again", func() bool {
		return strings.Contains(r.HeldWhy(), "ProducerBlockedQuotaExceededError")
	})
	if c := r.Count(); c.Acked != before.Acked || c.Failed != 0 || c.Pending != before.Pending+more {
		t.Errorf("%+v after %+v, want %d more held back", c, before, more)
	}
	r.ConsumeAll(t)
	r.Settled(t)
	if why := r.HeldWhy(); why != "" {
		t.Errorf("all is confirmed, and the broker is said to hold the producer back: %s", why)
	}
	if c := r.Count(); c.Acked != overflow+more || c.Failed != 0 || c.Received != overflow+more || c.Repeated > before.Pending {
		t.Errorf("%+v after %+v, want all delivered, once where it had been confirmed", c, before)
	}
	t.Logf("%d messages were held back, then all %d delivered", before.Pending+more, overflow+more)
}

func refuses(t *testing.T, target driver.Target) {
	r := full(t, target, "producer_exception")
	livetest.Eventually(t, "the broker sends the producer away", func() bool { return away(t, r) })
	livetest.Eventually(t, "what it had not confirmed fails", func() bool { return r.Count().Pending == 0 })
	const more = 10
	before := r.Count()
	var refused []string
	for i := range more {
		refused = append(refused, message(overflow+i))
	}
	if err := r.Send(t, refused...); !errors.Is(err, client.ErrProducerBlockedQuotaExceeded) {
		t.Errorf("the producer was told %v", err)
	}
	if c := r.Count(); c.Acked != before.Acked || c.Failed != before.Failed+more {
		t.Errorf("%+v after %+v, want %d more refused", c, before, more)
	}
	r.ConsumeAll(t)
	r.Settled(t)
	livetest.Eventually(t, "there is room again", func() bool { return r.Send(t, message(overflow+more)) == nil })
	r.Settled(t)
	for _, p := range r.Received(0) {
		if slices.Contains(refused, p) {
			t.Errorf("%s was refused and is delivered all the same", strings.TrimLeft(p, "0"))
		}
	}
	if c := r.Count(); c.Acked != before.Acked+1 || c.Repeated != 0 {
		t.Errorf("%+v after %+v, want what was confirmed delivered once", c, before)
	}
	t.Logf("%d messages were confirmed and delivered, %d refused", before.Acked+1, before.Failed+more)
}
