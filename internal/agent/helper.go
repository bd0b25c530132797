package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

// helper describes a kind of process that works for an experiment: the one that hosts its consumers, or a relay. The process
// is this executable once more. Package provision starts it like the node of a broker, with the settings S on its standard
// input, since they may hold a password, and waits until the process answers on its address:
//
//	→ {"Name":"brokermark-4711-1"}
//
// The name differs from node to node, so that no other program on that port is taken for the helper.
type helper[S any] struct {
	name     string // of the provision.Recipe and of the program
	maxNodes int
	askedBy  string // the setting of a study that asks for these processes
	// place returns settings with what is known only when a node has been placed.
	place func(settings S, at nodePlace) S
	run   func(ctx context.Context, settings S) error // works until ctx ends
}

// nodePlace is where a node runs, and as which.
type nodePlace struct {
	id      int    // 1 to the number of nodes
	name    string // of the greeting
	address string // on which it listens, host:port
}

// settingsKey is the key of S in the settings that a recipe is given. Only this package sets it.
const settingsKey = "part"

// register makes the helper known to package provision. It is for init.
func (h helper[S]) register() {
	provision.RegisterProgram(h.name, h.main)
	provision.Register(provision.Recipe{
		Broker: h.name, Part: true, Versions: []provision.Version{{Name: "1"}}, Ports: []string{"client"}, MaxNodes: h.maxNodes,
		Configure: h.refuse, Command: h.command,
		Ready: func(ctx context.Context, n *provision.Node) error {
			return checkAnswers(ctx, placeOf(n))
		},
	})
}

// refuse refuses settings that are none of this package's.
func (h helper[S]) refuse(_ context.Context, n *provision.Node) error {
	if _, ok := n.Cluster.Settings[settingsKey].(S); !ok {
		return &provision.ErrRefused{Broker: h.name, Reason: "it is started by experiments: " + h.askedBy}
	}
	return nil
}

// command is the process of a node.
func (h helper[S]) command(n *provision.Node) (provision.Command, error) {
	settings, _ := n.Cluster.Settings[settingsKey].(S) // refuse has seen them
	text, err := json.Marshal(h.place(settings, placeOf(n)))
	return provision.Command{Program: h.name, Input: text}, err
}

func placeOf(n *provision.Node) nodePlace {
	return nodePlace{id: n.ID, name: fmt.Sprintf("%s-%d", n.Cluster.ID, n.ID), address: fmt.Sprintf("127.0.0.1:%d", n.Ports["client"])}
}

// main is what the process runs. It returns the exit code.
func (h helper[S]) main([]string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var settings S
	err := json.NewDecoder(os.Stdin).Decode(&settings)
	if err != nil {
		err = fmt.Errorf("settings: %w", err)
	} else {
		err = h.run(ctx, settings)
	}
	if err != nil && ctx.Err() == nil { // after a SIGTERM nobody waits for what could not be done any more
		fmt.Fprintf(os.Stderr, "%s: %v\n", h.name, err)
		return 1
	}
	return 0
}

// greeting is the first line that a helper sends on a connection.
type greeting struct{ Name string }

// greetingTime bounds the wait for the first line of the other side.
const greetingTime = 10 * time.Second

// checkAnswers returns nil if the helper that was placed there answers.
func checkAnswers(ctx context.Context, there nodePlace) error {
	conn, got, err := dial(ctx, there.address)
	if err != nil {
		return err
	}
	if got != there.name {
		err = fmt.Errorf("%s is answered by %q, not by %q", there.address, got, there.name)
	}
	return errors.Join(err, conn.Close())
}

// dial connects to a helper and returns the name from its greeting, for which it waits until ctx ends, but no longer than greetingTime.
// The caller closes the connection.
func dial(ctx context.Context, address string) (conn net.Conn, name string, err error) {
	conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, greetingTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	var g greeting
	err = readLine(conn, &g)
	if inTime := stop(); !inTime {
		err = ctx.Err()
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("read the greeting of %s: %w", address, err), conn.Close())
	}
	return conn, g.Name, nil
}

// maxLine bounds a line that readLine reads, in bytes.
const maxLine = 4 << 10

// readLine decodes one line of JSON. It reads byte by byte, so that what follows the line is left for another reader.
func readLine(r io.Reader, v any) error {
	var line []byte
	next := make([]byte, 1)
	for len(line) < maxLine {
		if _, err := io.ReadFull(r, next); err != nil {
			return err
		}
		if next[0] == '\n' {
			return json.Unmarshal(line, v)
		}
		line = append(line, next[0])
	}
	return fmt.Errorf("the first %d bytes are not a line", maxLine)
}
