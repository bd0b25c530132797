package parts_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/provision"
)

// The database and then the consumer are killed in the middle of a load, and restarted: what was accepted is in the
// database, once. The consumer ends when it loses its database, since it must not acknowledge what it can't keep.
func TestAStateInPostgreSQLSurvivesItsOwnDeathAndTheConsumers(t *testing.T) {
	h := shared(t)
	_, b := broker(t, h)
	login := provision.Login{User: "rides", Password: "s3cret"}
	db := start(t, h, provision.Options{Broker: parts.Postgres, Login: &login})
	at := parts.PostgresURL(db.Addresses()[0], login)
	taking := start(t, h, provision.Options{Broker: parts.ConsumerPart, Server: provision.PartSettings(parts.Consumer{Broker: b, Threads: 4, State: at})})
	pool := parts.Defaults()
	pool.Producers = 4
	serving := start(t, h, provision.Options{Broker: parts.ServerPart, Server: provision.PartSettings(parts.Server{Broker: b, Pool: pool})})
	rides := &load.Rides{Host: "x", Run: "pg", Seed: 1}
	r, err := load.NewRunner(load.Load{
		Address: serving.Addresses()[0], Maker: rides, Phases: []load.Phase{{Threads: 4, Total: 3000}}, Retries: 5, Backoff: 50 * time.Millisecond, Timeout: 20 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan load.Outcome)
	go func() { over <- r.Run(t.Context()) }()
	for r.Progress().Accepted < 300 {
		time.Sleep(time.Millisecond)
	}
	if err := errors.Join(db.Kill(t.Context(), 1), db.Restart(t.Context(), 1)); err != nil {
		t.Fatal(err)
	}
	_ = taking.Kill(t.Context(), 1) // where it has not ended by itself
	if err := taking.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	o := <-over
	if o.Accepted != 3000 {
		t.Errorf("%+v: %v", o.Counts, o.Err)
	}
	if s := settled(t, consumer.NewRemote(taking.Addresses()[0]), 3000); s.Rides != 3000 || s.Counted != 3000 || s.Corrupted != 0 {
		t.Errorf("%+v", s)
	}
	state, err := consumer.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	have := map[ride.ID]bool{}
	if err := state.IDs(func(id ride.ID) error { have[id] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	for i, fate := range o.Fates {
		if fate == load.Accepted && !have[rides.ID(int64(i))] {
			t.Fatalf("ride %d was accepted and isn't counted", i)
		}
	}
}

func TestThePartsDatabaseWantsALoginAndNothingElse(t *testing.T) {
	h := shared(t)
	login := provision.Login{User: "a", Password: "b"}
	for says, o := range map[string]provision.Options{
		"needs a user": {Broker: parts.Postgres},
		"fsync":        {Broker: parts.Postgres, Login: &login, Server: map[string]any{"fsync": "off"}},
	} {
		if in, err := h.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), says) {
			if in != nil {
				_ = in.Stop(t.Context())
			}
			t.Errorf("%v; want %q", err, says)
		}
	}
}
