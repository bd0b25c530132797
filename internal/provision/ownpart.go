package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// OwnPart is a part of an experiment that runs as a process of this executable and ends with SIGTERM. It reads its settings S
// from its standard input, not from a file, since they may hold a password.
type OwnPart[S any] struct {
	Name     string // of its recipe
	MaxNodes int
	TLS      bool
	Refusal  string // the error if a user starts it without settings: "it is started by experiments: relays"
	// Place sets the values that are known only once a node has its ports.
	Place func(s *S, n *Node)
	Ready func(ctx context.Context, n *Node) error
	Run   func(ctx context.Context, s S) error // blocks until ctx ends
}

// partSetting is the key of S in a recipe's settings; users never write it.
const partSetting = "part"

// PartSettings returns the settings of a recipe that starts a part with s.
func PartSettings(s any) map[string]any { return map[string]any{partSetting: s} }

// Register registers the part. Call it from init.
func (p OwnPart[S]) Register() {
	RegisterProgram(p.Name, p.main)
	Register(Recipe{
		Broker: p.Name, Part: true, Versions: []Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: p.MaxNodes, TLS: p.TLS,
		Configure: p.refuse, Command: p.command, Ready: p.Ready,
	})
}

// refuse refuses everything but one S as the only setting.
func (p OwnPart[S]) refuse(_ context.Context, n *Node) error {
	for name, value := range n.Cluster.Settings {
		if _, ok := value.(S); name != partSetting || !ok {
			return &ErrSetting{Name: name, Reason: p.Name + " has no settings: " + p.Refusal}
		}
		return nil
	}
	return &ErrRefused{Broker: p.Name, Reason: p.Refusal}
}

func (p OwnPart[S]) command(n *Node) (Command, error) {
	s, _ := n.Cluster.Settings[partSetting].(S) // refuse has checked it
	p.Place(&s, n)
	text, err := json.Marshal(s)
	return Command{Program: p.Name, Input: text}, err
}

// main runs in the part's process. It returns the exit code.
func (p OwnPart[S]) main([]string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var s S
	err := json.NewDecoder(os.Stdin).Decode(&s)
	if err == nil {
		err = p.Run(ctx, s)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return 1
	}
	return 0
}

// Name returns the node's name, unique on this machine.
func (n *Node) Name() string { return fmt.Sprintf("%s-%d", n.Cluster.ID, n.ID) }

// Address returns the address at which the node listens for clients.
func (n *Node) Address() string { return n.At("client") }

// At returns the address of the node's port of that name.
func (n *Node) At(port string) string { return address(n.Ports[port]) }
