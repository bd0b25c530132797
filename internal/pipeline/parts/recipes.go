package parts

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

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

// setting is what the recipes are given a part by: a Server or a Consumer. Nobody types it.
const setting = "part"

// partFile is in the node's directory.
const partFile = "part.json"

// mostServers is how many instances can be started.
const mostServers = 16

func init() {
	provision.RegisterProgram(ServerPart, program(RunServer))
	provision.RegisterProgram(ConsumerPart, program(RunConsumer))
	provision.Register(provision.Recipe{
		Broker: ServerPart, Part: true, Versions: []provision.Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: mostServers, TLS: true,
		Configure: configure(func(s *Server, n *provision.Node) {
			s.Name, s.Listen = nodeName(n), listen(n)
			s.Pool.FirstID += (n.ID - 1) * s.Pool.Producers
			if f := n.Cluster.TLS; f != nil {
				s.Cert, s.Key = f.Cert, f.Key
			}
		}),
		Command: runs(ServerPart), Ready: answers,
	})
	provision.Register(provision.Recipe{
		Broker: ConsumerPart, Part: true, Versions: []provision.Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: 1,
		Configure: configure(func(c *Consumer, n *provision.Node) {
			c.Name, c.Listen = nodeName(n), listen(n)
			if c.State == OwnFile {
				c.State = filepath.Join(n.Data, "state.db")
			}
		}),
		Command: runs(ConsumerPart), Ready: answers,
	})
}

func nodeName(n *provision.Node) string { return n.Cluster.ID + "-" + strconv.Itoa(n.ID) }
func listen(n *provision.Node) string   { return "127.0.0.1:" + strconv.Itoa(n.Ports["client"]) }

// Settings are those of a recipe that starts part.
func Settings(part any) map[string]any { return map[string]any{setting: part} }

// configure writes a part's own file. Only the user that it runs as may read it: it may hold a broker's password.
func configure[T any](own func(*T, *provision.Node)) func(context.Context, *provision.Node) error {
	return func(_ context.Context, n *provision.Node) error {
		for name, value := range n.Cluster.Settings {
			part, ok := value.(T)
			if name != setting || !ok {
				return &provision.ErrSetting{Name: name, Reason: n.Cluster.Recipe.Broker + " is started by experiments and has no settings; see brokermark pipeline"}
			}
			own(&part, n)
			text, err := json.Marshal(part)
			if err != nil {
				return err
			}
			return n.Write(partFile, text)
		}
		return &provision.ErrRefused{Broker: n.Cluster.Recipe.Broker, Reason: "it is started by experiments; by hand: brokermark pipeline"}
	}
}

func runs(name string) func(n *provision.Node) (provision.Command, error) {
	return func(n *provision.Node) (provision.Command, error) {
		return provision.Command{Program: name, Args: []string{filepath.Join(n.Dir, partFile)}}, nil
	}
}

// answers asks for the health of the part of that name.
func answers(ctx context.Context, n *provision.Node) error {
	a, err := ask(ctx, n, "/health")
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if name := a.Header.Get(server.Part); name != nodeName(n) {
		return fmt.Errorf("port %d is answered by another program, which calls itself %q", n.Ports["client"], name)
	}
	if a.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(a.Body, 200))
		return fmt.Errorf("answers %s: %s", a.Status, text)
	}
	return nil
}

// program runs a part as a process that ends with SIGTERM.
func program[T any](run func(context.Context, T, io.Writer, func(string)) error) func(args []string) int {
	return func(args []string) int {
		var part T
		if len(args) != 1 {
			fmt.Fprintln(os.Stderr, "wants its file")
			return 2
		}
		text, err := os.ReadFile(args[0])
		if err == nil {
			err = json.Unmarshal(text, &part)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := run(ctx, part, os.Stderr, func(address string) { fmt.Fprintln(os.Stderr, "listens on", address) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}
