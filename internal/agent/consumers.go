package agent

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
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

// With the setting consumersApart, a point's consumers run in a process of their own, so that the processor time of
// producers and consumers is known separately. The process (→) greets every client that connects. It works for the first
// client (←) that knows its secret:
//
//	→ {"Name":"brokermark-4711-1"}
//	← {"Secret":"JBSWY3DPEHPK3PXP"}
//	← orders, → reports           (worker.ServeConsumers)

// ConsumersPart is the name of the recipe that starts the process of a point's consumers.
const ConsumersPart = "consumers"

func init() {
	provision.OwnPart[Consumers]{
		Name: ConsumersPart, MaxNodes: 1, Refusal: "it is started by experiments: consumersApart: true", Ready: answers,
		Place: func(c *Consumers, n *provision.Node) { c.Name, c.Listen = n.Name(), n.Address() },
		Run:   func(ctx context.Context, c Consumers) error { return c.serve(ctx, os.Stderr) },
	}.Register()
}

// Consumers are the settings (provision.PartSettings) that the process of a point's consumers needs before a worker sends it a plan. Name and
// Listen are set when the process is started.
type Consumers struct {
	Name   string
	Listen string      // host:port
	Broker link.Broker // with the topology, which the producers' process makes
	Secret string      // of the only client that it works for
}

// ConsumerHost is where the process of a point's consumers is, and the secret that it asks for.
type ConsumerHost struct{ Address, Secret string }

// login is the first line that a client sends.
type login struct{ Secret string }

// connect makes this process the one that the consumers' process works for. The caller closes the connection.
func (h ConsumerHost) connect(ctx context.Context) (net.Conn, error) {
	conn, _, err := dial(ctx, h.Address)
	if err != nil {
		return nil, fmt.Errorf("connect to the consumers' process: %w", err)
	}
	if err := json.NewEncoder(conn).Encode(login{Secret: h.Secret}); err != nil {
		return nil, errors.Join(fmt.Errorf("log in to the consumers' process: %w", err), conn.Close())
	}
	return conn, nil
}

// serve runs consumers for the first client that knows the secret, until that client closes the connection or ctx ends.
func (c Consumers) serve(ctx context.Context, log io.Writer) error {
	conn, err := c.acceptClient(ctx)
	if err != nil {
		if ctx.Err() != nil { // without a client so far
			return nil
		}
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	err = worker.ServeConsumers(conn, func(ctx context.Context) (driver.Driver, error) { return c.Broker.Open(ctx, log) })
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// acceptClient returns the connection of the first client that knows the secret. Others, whose answer takes as long as they like, do not
// keep it waiting.
func (c Consumers) acceptClient(ctx context.Context) (net.Conn, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	admitted := make(chan net.Conn)
	err := listen(ctx, c.Listen, c.Name, func(conn net.Conn) {
		if c.admits(conn) {
			select {
			case admitted <- conn:
				return
			case <-ctx.Done():
			}
		}
		conn.Close()
	})
	if err != nil {
		return nil, err
	}
	select {
	case conn := <-admitted:
		return conn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// admits reports whether a client knows the secret.
func (c Consumers) admits(conn net.Conn) bool {
	var l login
	if readLine(conn, &l) != nil || subtle.ConstantTimeCompare([]byte(l.Secret), []byte(c.Secret)) != 1 {
		return false
	}
	return conn.SetDeadline(time.Time{}) == nil
}
