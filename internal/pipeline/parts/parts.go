// Package parts runs the pipeline's server and consumer, in this process or supervised as processes of their own, and the
// load balancers before the servers. It knows nothing of experiments.
package parts

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/pipeline/pool"
	"github.com/brokermark/brokermark/internal/pipeline/server"
	"github.com/brokermark/brokermark/internal/provision"
)

// Server is everything that a server needs to know.
type Server struct {
	Name     string // as its health check reports it
	Listen   string // host:port
	Broker   link.Broker
	Pool     pool.Config
	Consumer string `json:",omitempty"` // host:port of one that can be asked for verticals
	// Cert and Key, PEM files, are for HTTPS.
	Cert, Key string `json:",omitempty"`
}

// Defaults of a pool: 20 producers, as in the assignment.
func Defaults() pool.Config {
	return pool.Config{Producers: 20, Window: 1, Waiting: 4096, MaxBytes: 512, Patience: 2 * time.Second, Fate: 10 * time.Second}
}

// collectAt is how far a server's heap may grow, in percent of what is in use, before a garbage collection: thousands of
// connections use little, and several collections a second cost 5 % of the server.
const collectAt = 400

// RunServer serves until ctx ends; then it answers the requests under way and returns. It calls listening with its address.
func RunServer(ctx context.Context, c Server, log io.Writer, listening func(address string)) (err error) {
	var secure *tls.Config
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return fmt.Errorf("the server's certificate: %w", err)
		}
		secure = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	d, err := c.Broker.Open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	p, err := pool.New(ctx, d, c.Pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	var from server.Verticals
	if c.Consumer != "" {
		from = consumer.NewRemote(c.Consumer)
	}
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	}
	listening(l.Addr().String())
	s := server.New(p, from)
	s.Name = c.Name
	return server.Serve(ctx, l, secure, s)
}

// Consumer is everything that a consumer needs to know.
type Consumer struct {
	Name    string
	Listen  string // host:port
	Broker  link.Broker
	Threads int
	State   string `json:",omitempty"` // as consumer.Open has it: a SQLite file, a URL of PostgreSQL; empty: in memory
}

// RunConsumer consumes until ctx ends or a thread can't go on. It calls listening with its address when all threads are
// registered with the broker.
func RunConsumer(ctx context.Context, c Consumer, log io.Writer, listening func(address string)) (err error) {
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	state, err := consumer.Open(c.State)
	if err != nil {
		return err
	}
	d, err := c.Broker.Open(ctx, log)
	if err != nil {
		return errors.Join(err, state.Close())
	}
	consuming, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	unbind := context.AfterFunc(ctx, stop) // until all threads are registered, the end of ctx ends them
	running, err := consumer.Start(consuming, d, state, c.Threads)
	unbind()
	if err != nil {
		stop()
		return errors.Join(err, d.Close())
	}
	listening(l.Addr().String())
	serving, end := context.WithCancel(ctx)
	defer end()
	broken := make(chan error, 1)
	go func() {
		select {
		case err := <-running.Broken():
			broken <- err
			end()
		case <-serving.Done():
			broken <- nil
		}
	}()
	handler := running.Handler()
	err = server.Serve(serving, l, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" {
			w.Header().Set(server.Part, c.Name)
		}
		handler.ServeHTTP(w, r)
	}))
	end()
	if lost := <-broken; lost != nil { // a thread may never end: it must not acknowledge a ride that it can't count
		return errors.Join(lost, err)
	}
	stop()
	running.Wait()
	return errors.Join(err, d.Close(), state.Close())
}

// The names of the recipes.
const (
	ServerPart   = "pipeline-server"
	ConsumerPart = "pipeline-consumer"
)

// OwnFile is the state of a consumer that keeps a SQLite file in the directory that it is started in.
const OwnFile = "sqlite"

// byHand tells users how to start the parts registered here.
const byHand = "it is started by experiments; by hand: brokermark pipeline"

// mostServers is how many instances can be started.
const mostServers = 16

func init() {
	provision.OwnPart[Server]{
		Name: ServerPart, MaxNodes: mostServers, TLS: true, Refusal: byHand, Ready: answers,
		Place: func(s *Server, n *provision.Node) {
			s.Name, s.Listen = n.Name(), n.Address()
			s.Pool.FirstID += (n.ID - 1) * s.Pool.Producers
			if f := n.Cluster.TLS; f != nil {
				s.Cert, s.Key = f.Cert, f.Key
			}
		},
		Run: func(ctx context.Context, s Server) error { return RunServer(ctx, s, os.Stderr, printAddress) },
	}.Register()
	provision.OwnPart[Consumer]{
		Name: ConsumerPart, MaxNodes: 1, Refusal: byHand, Ready: answers,
		Place: func(c *Consumer, n *provision.Node) {
			c.Name, c.Listen = n.Name(), n.Address()
			if c.State == OwnFile {
				c.State = filepath.Join(n.Data, "state.db")
			}
		},
		Run: func(ctx context.Context, c Consumer) error { return RunConsumer(ctx, c, os.Stderr, printAddress) },
	}.Register()
}

func printAddress(address string) { fmt.Fprintln(os.Stderr, "listens on", address) }

// answers asks for the health of the part of that name.
func answers(ctx context.Context, n *provision.Node) error {
	a, err := ask(ctx, n, "/health")
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if name := a.Header.Get(server.Part); name != n.Name() {
		return fmt.Errorf("port %d is answered by another program, which calls itself %q", n.Ports["client"], name)
	}
	if a.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(a.Body, 200))
		return fmt.Errorf("answers %s: %s", a.Status, text)
	}
	return nil
}
