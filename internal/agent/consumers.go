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
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// ConsumersPart is the recipe of a process that runs a point's consumers.
const ConsumersPart = "consumers"

// Consumers is everything that the process needs to know before it is told a worker's plan.
type Consumers struct {
	Name   string
	Listen string      // host:port
	Broker link.Broker // with the topology, which the producers' side makes
	Secret string      // whoever doesn't know it gets no answer
}

// Elsewhere is where such a process is.
type Elsewhere struct{ Address, Secret string }

// hello is the first line on a connection, and knock what it is answered with.
type (
	hello struct{ Name string }
	knock struct{ Secret string }
)

// connect reaches the process as the one that tells it what to do. The caller closes the connection.
func (e Elsewhere) connect(ctx context.Context) (net.Conn, error) {
	conn, _, err := greeted(ctx, e.Address)
	if err != nil {
		return nil, fmt.Errorf("reach the consumers' process: %w", err)
	}
	if err := json.NewEncoder(conn).Encode(knock{e.Secret}); err != nil {
		return nil, errors.Join(fmt.Errorf("reach the consumers' process: %w", err), conn.Close())
	}
	return conn, nil
}

// greeted connects and reads the hello.
func greeted(ctx context.Context, address string) (net.Conn, string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, "", err
	}
	_ = conn.SetReadDeadline(time.Now().Add(greeting))
	var h hello
	if err := line(conn, &h); err != nil {
		return nil, "", errors.Join(err, conn.Close())
	}
	return conn, h.Name, conn.SetReadDeadline(time.Time{})
}

// greets tells, with nil, that the process of that name answers.
func greets(ctx context.Context, address, name string) error {
	conn, its, err := greeted(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if its != name {
		return fmt.Errorf("%s is answered by another program", address)
	}
	return nil
}

const (
	greeting = 10 * time.Second
	maxLine  = 4 << 10
)

// line reads one line of JSON and nothing behind it.
func line(r io.Reader, v any) error {
	var text []byte
	for one := make([]byte, 1); len(text) < maxLine; text = append(text, one[0]) {
		if _, err := io.ReadFull(r, one); err != nil {
			return err
		}
		if one[0] == '\n' {
			return json.Unmarshal(text, v)
		}
	}
	return errors.New("a line without an end")
}

// partFile is in the node's directory.
const partFile = "consumers.json"

// setting is what the recipe is given a part by. Nobody types it.
const setting = "part"

// Settings are those of the recipe.
func (c Consumers) Settings() map[string]any { return map[string]any{setting: c} }

func init() {
	provision.RegisterProgram(ConsumersPart, runConsumers)
	provision.Register(provision.Recipe{
		Broker: ConsumersPart, Part: true, Versions: []provision.Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: 1,
		Configure: func(_ context.Context, n *provision.Node) error {
			c, ok := n.Cluster.Settings[setting].(Consumers)
			if !ok {
				return &provision.ErrRefused{Broker: ConsumersPart, Reason: "it is started by experiments: consumersApart: true"}
			}
			c.Name, c.Listen = nameOf(n), addressOf(n)
			text, err := json.Marshal(c)
			if err != nil {
				return err
			}
			return n.Write(partFile, text) // only its user may read it: it may hold a password
		},
		Command: func(n *provision.Node) (provision.Command, error) {
			return provision.Command{Program: ConsumersPart, Args: []string{filepath.Join(n.Dir, partFile)}}, nil
		},
		Ready: func(ctx context.Context, n *provision.Node) error { return greets(ctx, addressOf(n), nameOf(n)) },
	})
}

func nameOf(n *provision.Node) string    { return n.Cluster.ID }
func addressOf(n *provision.Node) string { return "127.0.0.1:" + strconv.Itoa(n.Ports["client"]) }

// maxPart bounds a part's file, in bytes: a topology may have a million topics.
const maxPart = 512 << 20

// runConsumers is the process.
func runConsumers(args []string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var c Consumers
	if err := readPart(args, &c); err != nil {
		return fail(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := c.serve(ctx, os.Stderr); err != nil {
		return fail(err)
	}
	return 0
}

// serve runs the consumers of the first who knows the secret, until that one leaves or ctx ends.
func (c Consumers) serve(ctx context.Context, log io.Writer) error {
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if c.admits(conn) {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			err := worker.ServeConsumers(conn, func(ctx context.Context) (driver.Driver, error) { return c.Broker.Open(ctx, log) })
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		conn.Close()
	}
}

// admits greets whoever has connected, and tells whether they know the secret.
func (c Consumers) admits(conn net.Conn) bool {
	if json.NewEncoder(conn).Encode(hello{c.Name}) != nil {
		return false
	}
	_ = conn.SetReadDeadline(time.Now().Add(greeting))
	var k knock
	if line(conn, &k) != nil || subtle.ConstantTimeCompare([]byte(k.Secret), []byte(c.Secret)) != 1 {
		return false
	}
	return conn.SetReadDeadline(time.Time{}) == nil
}
