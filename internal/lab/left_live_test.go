package lab_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	_ "github.com/brokermark/brokermark/brokers/jetstream"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// However a run on a broker that somebody else started ends, nothing of it stays there, nor a note that something does.
func TestNothingStaysOnAnAttachedBroker(t *testing.T) {
	testkit.Live(t)
	t.Parallel()
	h := sharedHost(t)
	in, err := h.Start(t.Context(), provision.Options{Broker: "jetstream"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Stop(t.Context()) }()
	conn, err := nats.Connect("nats://" + in.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		edit    func(*study.Spec)
		stopped bool
	}{
		"ended":       {},
		"interrupted": {stopped: true},
		"failed":      {edit: func(s *study.Spec) { s.Topic = map[string]any{"max_msgs": 1, "discard": "new"} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := parseSpec(t, "broker: jetstream\nmeasure: rate\nload.rate: 500\nduration: 2s\ndelivery: at-least-once\npersistence: log\n")
			s.Attach = in.Addresses()
			if c.edit != nil {
				c.edit(&s)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			db, made := openStore(t), 0
			_, err := lab.Run(ctx, runsOf(s), lab.Options{Host: h, Store: db, Watch: func(e lab.Event) {
				if names := streams(t, js); len(names) > made {
					made = len(names)
					if c.stopped {
						time.AfterFunc(500*time.Millisecond, cancel)
					}
				}
			}})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if made == 0 {
				t.Errorf("%v: it made no stream", endings(readRecords(t, db)))
			}
			if left := streams(t, js); len(left) > 0 {
				t.Errorf("%v: %v are left", endings(readRecords(t, db)), left)
			}
			for _, note := range provision.LeftBehind(h.Dir) { // other tests have the same work directory
				if slices.Contains(note.Addresses, in.Addresses()[0]) {
					t.Error(note.String())
				}
			}
		})
	}
}

func streams(t *testing.T, js jetstream.JetStream) (names []string) {
	t.Helper()
	list := js.StreamNames(t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if err := list.Err(); err != nil {
		t.Error(err)
	}
	return names
}
