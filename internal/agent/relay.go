package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// A relay is a process that consumes what is sent to a topic and produces it to a further one. If it stands still, messages wait for it
// and not for the broker, so after a trial each relay (→) is asked when that happened:
//
//	→ {"Name":"brokermark-4711-2"}
//	← {"From":1000000000,"To":11000000000}       the measured phase, ns on this machine's clock
//	→ [{"From":4000000000,"To":4007000000}]      one wake-up came 7 ms late

// RelaysPart is the name of the recipe that starts a point's relays. Each relay is a node.
const RelaysPart = "relays"

func init() {
	provision.OwnPart[Relay]{
		Name: RelaysPart, MaxNodes: 64, Refusal: "it is started by experiments: relays", Ready: answers,
		Place: func(r *Relay, n *provision.Node) { r.Name, r.Listen, r.Config.ID = n.Name(), n.Address(), n.ID },
		Run:   func(ctx context.Context, r Relay) error { return r.run(ctx, os.Stderr) },
	}.Register()
}

// Relay are the settings of a relay's process (provision.PartSettings). Name, Listen and Config.ID are set when the processes are started.
type Relay struct {
	Name   string
	Listen string      // host:port
	Broker link.Broker // with the topology, which another process makes
	Config driver.RelayConfig
}

// run connects to the broker and relays until ctx ends.
func (r Relay) run(ctx context.Context, log io.Writer) error {
	d, err := r.Broker.Open(ctx, log)
	if err != nil {
		return err
	}
	defer d.Close()
	relayer, ok := d.(driver.Relayer)
	if !ok {
		return fmt.Errorf("the driver of %s has no relay", r.Broker.Broker)
	}
	pauses := worker.NewPauseLog()
	defer pauses.Close()
	if err := r.relayWith(ctx, relayer, pauses); ctx.Err() == nil { // later, what could not be done any more is of no use
		return err
	}
	return nil
}

// relayWith relays until ctx ends. It listens as soon as the broker knows the relay: provision takes that for readiness.
func (r Relay) relayWith(ctx context.Context, relayer driver.Relayer, pauses *worker.PauseLog) error {
	relaying, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := relayer.Relay(relaying, r.Config, func() {
		if err := listen(relaying, r.Listen, r.Name, func(conn net.Conn) { r.answer(conn, pauses) }); err != nil {
			cancel(err)
		}
	})
	if cannotListen := context.Cause(relaying); cannotListen != nil && ctx.Err() == nil {
		return cannotListen // err only says that relaying was cancelled
	}
	return err
}

// period is a time in which a relay may have stood still, ns on this machine's clock.
type period struct{ From, To int64 }

// answer answers a client's question. If that fails, the client notices it, so the error is not needed.
func (r Relay) answer(conn net.Conn, pauses *worker.PauseLog) {
	defer conn.Close()
	var p period
	if readLine(conn, &p) == nil {
		_ = json.NewEncoder(conn).Encode(pauses.LateWakeUps(p.From, p.To))
	}
}

// relayPatience bounds how long RelayPauses waits for a relay.
const relayPatience = 2 * time.Second

// RelayPauses asks the relay at address when it stood still in the measured phase [from, until), ns on this machine's clock.
func RelayPauses(ctx context.Context, address string, from, until int64) (worker.Pauses, error) {
	ctx, cancel := context.WithTimeout(ctx, relayPatience)
	defer cancel()
	conn, _, err := dial(ctx, address) // the name in its greeting was checked when the relay was started
	if err != nil {
		return worker.Pauses{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // ends the reading and writing below
	defer stop()
	if err := json.NewEncoder(conn).Encode(period{From: from, To: until}); err != nil {
		return worker.Pauses{}, fmt.Errorf("ask the relay at %s when it stood still: %w", address, err)
	}
	var late []worker.Interval
	if err := json.NewDecoder(conn).Decode(&late); err != nil {
		return worker.Pauses{}, fmt.Errorf("read when the relay at %s stood still: %w", address, err)
	}
	return worker.PausesOf(late, from, until), nil
}
