package drivertest

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Limit is a setting that bounds the messages that wait for consumers.
type Limit struct {
	Name   string         // of the subtest: name=value
	Client map[string]any // native settings, beside those of the suite
	Topic  map[string]any
	Keeps  int // messages that the broker holds; 0: the exact number is not known
	Full   Full
}

// Full is the behaviour of a full topic.
type Full string

// What a full topic does with a further message. Dropped: it drops a message although it was acknowledged.
const (
	DropsOldest Full = "drops the oldest"
	DropsNewest Full = "drops the newest"
	Refuses     Full = "refuses"
)

const (
	beyondLimit = 300                    // messages sent, several times what any Limit keeps
	quiet       = 500 * time.Millisecond // after the last message of a drained topic
)

// Limits fills a topic without consumers beyond its limit and reads it: it must hold the oldest or the newest of the accepted
// messages, or exactly those. g must be a guarantee with acknowledgements.
func Limits(t *testing.T, s Suite, target driver.Target, g driver.Guarantee, limits ...Limit) {
	for _, l := range limits {
		t.Run(l.Name, func(t *testing.T) {
			r := &run{suite: s, target: target}
			r.suite.Client, r.suite.Topic = l.Client, l.Topic
			r.limited(t, g, l)
		})
	}
}

func (r *run) limited(t *testing.T, g driver.Guarantee, l Limit) {
	s := r.open(t, g, shape{topics: 1, subscriptions: 1})
	p := s.newSender(t, 0, 0)
	p.deliver(t, beyondLimit)
	accepted := p.accepted(t)
	got := s.drain()
	p.close(t, true)
	s.close(t, true)
	s.reportSlots(t)
	s.reportTallies(t)
	t.Logf("sent %d, accepted %d, refused %d, received %d: %d lost although acknowledged",
		len(p.sent), len(accepted), len(p.sent)-len(accepted), len(got), len(accepted)-len(got))
	due := accepted
	switch {
	case len(got) == len(p.sent):
		t.Fatalf("all %d messages came out of a topic that is limited", len(got))
	case l.Full != Refuses && len(accepted) != len(p.sent):
		t.Errorf("%d of %d messages were refused by a topic that %s", len(p.sent)-len(accepted), len(p.sent), l.Full)
	case l.Full == DropsOldest:
		due = accepted[max(0, len(accepted)-len(got)):]
	case l.Full == DropsNewest:
		due = accepted[:min(len(got), len(accepted))]
	}
	if !slices.Equal(got, due) {
		t.Errorf("received %d messages, accepted %d: not those that a topic leaves that %s", len(got), len(accepted), l.Full)
	}
	if l.Keeps > 0 && len(got) != l.Keeps {
		t.Errorf("received %d messages of a topic that keeps %d", len(got), l.Keeps)
	}
	r.saysSo(t, l, len(p.sent), len(got))
}

// saysSo requires the driver to report the drops by a topic's own limit, and no others.
func (r *run) saysSo(t *testing.T, l Limit, sent, got int) {
	keeps := r.suite.Kind.Keeps
	if len(l.Topic) == 0 || keeps == nil {
		return
	}
	c := r.config(t, driver.Guarantee{}, r.target) // with the settings of l
	limit := keeps(c.Client, c.Topic, 1)
	if drops := l.Full != Refuses; drops != (limit.Setting != "") {
		t.Errorf("a topic that %s is said to have the limit %+v", l.Full, limit)
	} else if said := keeps(c.Client, c.Topic, largest).Messages; drops && int64(got) < min(int64(sent), said) {
		t.Errorf("received %d messages of a topic that is said to keep %d", got, said)
	}
}

// drain consumes until nothing has come for a while, and returns the messages in the order of sending.
func (s *session) drain() []identity {
	all := s.tallies[0][0]
	c := startConsumer(s.drv, driver.ConsumerConfig{Headers: s.wanted}, all)
	s.consumers = append(s.consumers, c)
	seen, since := -1, time.Now()
	eventually(patience, func() bool {
		if n := all.received(); n != seen {
			seen, since = n, time.Now()
		}
		return seen > 0 && time.Since(since) > quiet
	})
	return all.all()
}

// accepted are the acknowledged messages, in the order of sending; the others must have been refused for good.
func (p *sender) accepted(t *testing.T) (list []identity) {
	t.Helper()
	p.slots.eachFate(func(id identity, err error) {
		if err == nil {
			list = append(list, id)
		} else if errors.Is(err, driver.ErrDisconnected) {
			t.Errorf("%v: %v; want it refused", id, err)
		}
	})
	slices.Sort(list)
	if len(list) == 0 {
		t.Fatal("nothing was accepted")
	}
	return list
}

// all are the received messages, in the order of sending.
func (a *tally) all() []identity {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.counts))
}
