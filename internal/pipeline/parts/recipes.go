package parts

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/brokermark/brokermark/internal/pipeline/server"
	"github.com/brokermark/brokermark/internal/provision"
)

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

// Settings returns the settings of a recipe that starts part.
func Settings(part any) map[string]any { return provision.PartSettings(part) }

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
