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

// mostServers is how many instances can be started.
const mostServers = 16

func init() {
	provision.RegisterProgram(ServerPart, program(RunServer))
	provision.RegisterProgram(ConsumerPart, program(RunConsumer))
	provision.Register(provision.Recipe{
		Broker: ServerPart, Part: true, Versions: []provision.Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: mostServers, TLS: true,
		Configure: refuse[Server], Ready: answers, Command: runs(ServerPart, func(s *Server, n *provision.Node) {
			s.Name, s.Listen = nodeName(n), listen(n)
			s.Pool.FirstID += (n.ID - 1) * s.Pool.Producers
			if f := n.Cluster.TLS; f != nil {
				s.Cert, s.Key = f.Cert, f.Key
			}
		}),
	})
	provision.Register(provision.Recipe{
		Broker: ConsumerPart, Part: true, Versions: []provision.Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: 1,
		Configure: refuse[Consumer], Ready: answers, Command: runs(ConsumerPart, func(c *Consumer, n *provision.Node) {
			c.Name, c.Listen = nodeName(n), listen(n)
			if c.State == OwnFile {
				c.State = filepath.Join(n.Data, "state.db")
			}
		}),
	})
}

func nodeName(n *provision.Node) string { return n.Cluster.ID + "-" + strconv.Itoa(n.ID) }
func listen(n *provision.Node) string   { return "127.0.0.1:" + strconv.Itoa(n.Ports["client"]) }

// Settings are those of a recipe that starts part.
func Settings(part any) map[string]any { return map[string]any{setting: part} }

// refuse refuses what is no T as the only setting.
func refuse[T any](_ context.Context, n *provision.Node) error {
	for name, value := range n.Cluster.Settings {
		if _, ok := value.(T); name != setting || !ok {
			return &provision.ErrSetting{Name: name, Reason: n.Cluster.Recipe.Broker + " is started by experiments and has no settings; see brokermark pipeline"}
		}
		return nil
	}
	return &provision.ErrRefused{Broker: n.Cluster.Recipe.Broker, Reason: "it is started by experiments; by hand: brokermark pipeline"}
}

// runs starts the program of that name with a part as its input, which is in no file: it may hold a broker's password. own sets what is
// known of a node.
func runs[T any](name string, own func(*T, *provision.Node)) func(n *provision.Node) (provision.Command, error) {
	return func(n *provision.Node) (provision.Command, error) {
		part, _ := n.Cluster.Settings[setting].(T) // refuse has seen it
		own(&part, n)
		text, err := json.Marshal(part)
		return provision.Command{Program: name, Input: text}, err
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

// program runs the part that its standard input holds, as a process that ends with SIGTERM.
func program[T any](run func(context.Context, T, io.Writer, func(string)) error) func(args []string) int {
	return func([]string) int {
		var part T
		if err := json.NewDecoder(os.Stdin).Decode(&part); err != nil {
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
