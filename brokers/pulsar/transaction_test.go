package pulsar

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

var inTransactions = map[string]any{"transactions": true, "transactionTimeout": "2m"} // longer than a server takes to start beside other work

// TestTransactions shares one server; the contract's last promise ends it.
func TestTransactions(t *testing.T) {
	testkit.Long(t)
	in, target := livetest.Start(t, provision.Options{Broker: "pulsar", Server: small(map[string]any{coordinator: true, journalSync: true})})
	t.Run("consumers get nothing before the commit", func(t *testing.T) { commitsAsAWhole(t, target) })
	t.Run("what was never committed is never delivered", func(t *testing.T) { abandons(t, target) })
	t.Run("what a relay did not commit another one does", func(t *testing.T) { takesOver(t, target) })
	s := livetest.SuiteOn(t, in, exactly, unordered(exactly))
	s.Client = inTransactions
	const library = "github.com/apache/pulsar-client-go/pulsar" // these last until transactionTimeout, the second also after Close
	s.Lingers = []string{library + ".newTransaction.func1", library + "/internal.(*rpcClient).requestToHost"}
	s.Bulk, s.QueuedInBatches = 300, true
	drivertest.Run(t, s)
}

func commitsAsAWhole(t *testing.T, target driver.Target) {
	const n = 100
	c := livetest.Config(t, "pulsar", target, exactly, map[string]any{"transactions": true, "commitInterval": "8s"}, nil)
	r := livetest.Open(t, "pulsar", c, livetest.Topic("whole", 2, "s"))
	r.ConsumeAll(t)
	for i := range n {
		r.Post(t, fmt.Sprint(i))
	}
	s := r.Driver.(*session)
	livetest.Eventually(t, "the broker has all", func() bool {
		f, err := s.admin.traffic(t.Context(), s.path(0), true)
		return err == nil && f.MsgInCounter == n
	})
	time.Sleep(500 * time.Millisecond) // deliveries of what isn't committed would be on their way
	if c := r.Count(); c.Received > 0 || c.Pending != n {
		t.Errorf("before the commit: %+v", c)
	}
	r.Settled(t)
	if c := r.Count(); c.Received != n || c.Repeated+c.Failed > 0 {
		t.Errorf("after the commit: %+v", c)
	}
}

// abandons leaves a transaction open, as an application that dies does: what comes after it waits until its time is over. By itself the
// client has what was aborted delivered; when it no longer does, mark can go.
func abandons(t *testing.T, target driver.Target) {
	const n = 20
	for _, marked := range []bool{true, false} {
		r := livetest.Open(t, "pulsar", livetest.Config(t, "pulsar", target, exactly, inTransactions, nil), livetest.Topic(fmt.Sprint("abandoned-", marked), 1, "s"))
		r.ConsumeAll(t)
		s := r.Driver.(*session)
		dying, err := s.connectTransacting()
		livetest.Must(t, err)
		txn, err := dying.NewTransaction(2 * time.Second)
		livetest.Must(t, err)
		out := &outlet{}
		options := client.ProducerOptions{Topic: s.address(0)}
		if marked {
			out.marks(&options)
		}
		out.begin(txn)
		p, err := dying.CreateProducer(options)
		livetest.Must(t, err)
		for i := range n {
			out.send(p, &client.ProducerMessage{Payload: fmt.Append(nil, "of the dead ", i), Transaction: txn})
		}
		livetest.Must(t, out.answers(t.Context(), time.Now().Add(livetest.Patience)))
		release(dying)
		livetest.Must(t, r.Send(t, numbered(0, n)...))
		r.Settled(t)
		want := n
		if !marked {
			want = 2 * n
		}
		if c := r.Count(); c.Received != want {
			t.Errorf("marked: %v: %+v, want %d received", marked, c, want)
		}
	}
}

func numbered(from, n int) (payloads []string) {
	for i := range n {
		payloads = append(payloads, fmt.Sprint(from+i))
	}
	return payloads
}

// takesOver has a relay produce everything and commit nothing, and then another one take its place, as if it had been killed and
// started again: of what the first produced nothing is delivered.
func takesOver(t *testing.T, target driver.Target) {
	const before, after = 100, 50
	g := unordered(exactly)
	topology := livetest.Topic("relayed", 1, "s")
	topology.Topics[0].Out = topology.Topics[0].Name + "-out"
	r := livetest.Open(t, "pulsar", livetest.Config(t, "pulsar", target, g, nil, nil), topology)
	r.ConsumeAll(t)
	s := r.Driver.(*session)
	produced := func(n int64) func() bool {
		return func() bool {
			f, err := s.admin.traffic(t.Context(), s.path(0), false)
			return err == nil && f.MsgInCounter >= n
		}
	}
	first, end := relayOne(t, target, g, topology, map[string]any{"commitInterval": "8s", "transactionTimeout": "10s"})
	livetest.Must(t, r.Send(t, numbered(0, before)...))
	livetest.Eventually(t, "all is produced", produced(before))
	end()
	livetest.Must(t, <-first)
	second, end := relayOne(t, target, g, topology, nil)
	livetest.Must(t, r.Send(t, numbered(before, after)...))
	livetest.Eventually(t, "what was produced and not committed is produced again", produced(2*before+after))
	r.Settled(t)
	end()
	livetest.Must(t, <-second)
	if c := r.Count(); c.Received != before+after || c.Repeated > 0 {
		t.Errorf("%+v", c)
	}
}

// relayOne starts a relay and waits until the broker knows it. ended says how it ended.
func relayOne(t *testing.T, target driver.Target, g driver.Guarantee, topology driver.Topology, settings map[string]any) (ended <-chan error, end func()) {
	t.Helper()
	topology.Existing = true
	d := livetest.SetUp(t, "pulsar", livetest.Config(t, "pulsar", target, g, settings, nil), topology).(driver.Relayer)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	known, how := make(chan struct{}), make(chan error, 1)
	go func() { how <- d.Relay(ctx, driver.RelayConfig{ID: 1, MaxBytes: 1000}, func() { close(known) }) }()
	select {
	case <-known:
	case err := <-how:
		t.Fatalf("it ended at once: %v", err)
	}
	return how, cancel
}

// The client's errors can't be made here: what the broker says of a transaction the server's tests show.
func TestTheFateOfATransactionIsNotGuessed(t *testing.T) {
	if ended, committed := fate(nil, time.Time{}); !ended || !committed {
		t.Error("a commit that was answered is none")
	}
	if ended, committed := fate(errors.New("request timed out"), time.Now().Add(time.Hour)); ended || committed {
		t.Error("a commit that nobody answered has an outcome")
	}
}

func TestRelaysAndTransactionsAreRefusedWhereTheyKeepLess(t *testing.T) {
	for name, c := range map[string]struct {
		g       driver.Guarantee
		client  map[string]any
		server  map[string]any
		relays  int
		refused string // "": it fits
	}{
		"at least once":                   {g: atLeast, client: inTransactions, refused: `client setting "transactions"`},
		"relays, at most once":            {g: atMost, relays: 2, refused: "relays: 2"},
		"relays, exactly once in order":   {g: exactly, relays: 2, refused: "relays: 2"},
		"relays, stock client":            {g: unordered(exactly), client: map[string]any{"mode": "stock"}, relays: 2, refused: "relays: 2"},
		"relays, one may consume":         {g: atLeast, client: map[string]any{"subscriptionType": "Exclusive"}, relays: 2, refused: "client.subscriptionType: Exclusive"},
		"no coordinator":                  {g: exactly, client: inTransactions, server: map[string]any{coordinator: false}, refused: "client.transactions: true"},
		"relays, at least once":           {g: atLeast, relays: 2},
		"relays, at least once, stock":    {g: atLeast, client: map[string]any{"mode": "stock"}, relays: 2},
		"relays, exactly once":            {g: unordered(exactly), relays: 2},
		"producers, exactly once":         {g: exactly, client: inTransactions},
		"producers and relays, keyed":     {g: unordered(exactly), client: map[string]any{"transactions": true, "subscriptionType": "Key_Shared"}, relays: 1},
		"exactly once by deduplication":   {g: exactly, server: map[string]any{coordinator: false}},
		"exactly once, and a coordinator": {g: exactly, server: map[string]any{coordinator: true}},
	} {
		t.Run(name, func(t *testing.T) {
			config := livetest.Config(t, "pulsar", driver.Target{Server: c.server}, c.g, c.client, nil)
			err := livetest.Kind(t, "pulsar").Refusal(config, driver.Shape{
				Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, Relays: c.relays, MaxBytes: 100, InFlight: 1,
			})
			if c.refused == "" {
				livetest.Must(t, err)
				return
			}
			livetest.Refused(t, err, c.refused)
		})
	}
}

func TestAServerIsStartedWithACoordinatorWhereItIsNeeded(t *testing.T) {
	for name, c := range map[string]struct {
		g      driver.Guarantee
		client map[string]any
		relays int
		needed bool
	}{
		"deduplication":         {g: exactly},
		"transactions":          {g: exactly, client: inTransactions, needed: true},
		"relays, exactly once":  {g: unordered(exactly), relays: 1, needed: true},
		"relays, at least once": {g: atLeast, relays: 1},
	} {
		given := map[string]any{"maxMessageSize": 9}
		got := transacting(c.g, decode(t, c.client), c.relays, given)
		if (got[coordinator] == true) != c.needed || got["maxMessageSize"] != 9 || len(given) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
