package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// RelaysPart is the recipe of a point's relays: each is a node, and a process.
const RelaysPart = "relays"

// Relay is everything that the process needs to know.
type Relay struct {
	Name   string
	Listen string      // host:port, once the broker knows the relay
	Broker link.Broker // with the topology, which others make
	Config driver.RelayConfig
}

// relayFile is in the node's directory.
const relayFile = "relay.json"

// Settings are those of the recipe.
func (r Relay) Settings() map[string]any { return map[string]any{setting: r} }

func init() {
	provision.RegisterProgram(RelaysPart, runRelay)
	provision.Register(provision.Recipe{
		Broker: RelaysPart, Part: true, Versions: []provision.Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: 64,
		Configure: func(_ context.Context, n *provision.Node) error {
			r, ok := n.Cluster.Settings[setting].(Relay)
			if !ok {
				return &provision.ErrRefused{Broker: RelaysPart, Reason: "they are started by experiments: relays"}
			}
			r.Name, r.Listen, r.Config.ID = relayName(n), addressOf(n), n.ID
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			return n.Write(relayFile, text) // only its user may read it: it may hold a password
		},
		Command: func(n *provision.Node) (provision.Command, error) {
			return provision.Command{Program: RelaysPart, Args: []string{filepath.Join(n.Dir, relayFile)}}, nil
		},
		Ready: func(ctx context.Context, n *provision.Node) error { return greets(ctx, addressOf(n), relayName(n)) },
	})
}

func relayName(n *provision.Node) string { return fmt.Sprintf("%s-%d", n.Cluster.ID, n.ID) }

// runRelay is the process.
func runRelay(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var r Relay
	err := readPart(args, &r)
	if err == nil {
		err = r.run(ctx, os.Stderr)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// readPart reads the file that a process of ours is given as its only argument.
func readPart(args []string, into any) error {
	if len(args) != 1 {
		return fmt.Errorf("wants its file")
	}
	text, err := bounded.File(args[0], maxPart)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// run relays until ctx ends, and answers whoever connects from when the broker knows the relay.
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
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := relayer.Relay(ctx, r.Config, func() {
		if err := r.answer(ctx, pauses); err != nil {
			cancel(err)
		}
	}); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// stretch is what a relay may be asked for on a connection: when it stood still between two times of this machine's clock.
type stretch struct{ From, To int64 }

// answer greets whoever connects, and tells them when this process stood still, until ctx ends.
func (r Relay) answer(ctx context.Context, pauses *worker.PauseLog) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", r.Listen)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(greeting))
				if json.NewEncoder(conn).Encode(hello{r.Name}) != nil {
					return
				}
				var asked stretch
				if line(conn, &asked) == nil {
					_ = json.NewEncoder(conn).Encode(pauses.Within(asked.From, asked.To)) // who asked sees that it fails
				}
			}()
		}
	}()
	return nil
}

// RelayPauses asks the relay at address how it stood still in the measured phase [from, until). It blocks for two seconds at most.
func RelayPauses(ctx context.Context, address string, from, until int64) (worker.Pauses, error) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, _, err := greeted(ctx, address)
	if err != nil {
		return worker.Pauses{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := json.NewEncoder(conn).Encode(stretch{from, until}); err != nil {
		return worker.Pauses{}, err
	}
	var late []worker.Stop
	if err := json.NewDecoder(conn).Decode(&late); err != nil {
		return worker.Pauses{}, err
	}
	return worker.PausesOf(late, from, until), nil
}
