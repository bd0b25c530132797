package natsio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/provision"
)

// Recipe returns the common half of both recipes; own returns a node's particular configuration.
func Recipe(own func(n *provision.Node) Block) *provision.Recipe {
	return &provision.Recipe{
		Versions:   []provision.Version{{Name: server.VERSION}}, // the one that is compiled in
		Ports:      []string{"client", "monitor", "route"},
		MaxNodes:   9,
		TLS:        true,
		Plain:      "routes, which replicate",
		Mutual:     true,
		Login:      true,
		AnyAddress: true,
		Configure: func(_ context.Context, n *provision.Node) error {
			return Configure(n, own(n))
		},
		Command: func(n *provision.Node) (provision.Command, error) {
			args := []string{file(n)}
			if profile := n.Profile(); profile != "" {
				args = append(args, profile)
			}
			return provision.Command{Program: program, Args: args}, nil
		},
		Profiler: &provision.Profiler{Name: "pprof", File: "profile.pb.gz"},
		Ready:    Ready,
		Formed:   Routed,
		Endpoints: func(n *provision.Node) map[string]string {
			return map[string]string{"monitor": "http://" + n.At("monitor")}
		},
	}
}

// Ready asks the monitoring port for the server's name: another instance's port answers with another one.
func Ready(ctx context.Context, n *provision.Node) error {
	var v struct {
		Name string `json:"server_name"`
	}
	if err := Monitor(ctx, n, "/varz", &v); err != nil {
		return err
	}
	if v.Name != n.Name() {
		return fmt.Errorf("port %d belongs to the server %q, want %q", n.Ports["monitor"], v.Name, n.Name())
	}
	return nil
}

// Routed reports whether every node has routes to all others.
func Routed(ctx context.Context, c *provision.Cluster) error {
	for _, n := range c.Nodes {
		var v server.Routez
		if err := Monitor(ctx, n, "/routez", &v); err != nil {
			return err
		}
		if there := peers(v); there < len(c.Nodes)-1 {
			return fmt.Errorf("node %d has routes to %d of %d other nodes", n.ID, there, len(c.Nodes)-1)
		}
	}
	return nil
}

// peers returns the number of servers that routes lead to.
func peers(z server.Routez) int {
	ids := map[string]bool{}
	for _, r := range z.Routes {
		if r != nil { // the answering server may be any
			ids[r.RemoteID] = true // an old server doesn't send its name
		}
	}
	return len(ids)
}

// Monitor reads one page of n's monitoring port.
func Monitor(ctx context.Context, n *provision.Node, page string, into any) error {
	return Read(ctx, "http://"+n.At("monitor")+page, into)
}

// No connection is kept: its goroutines would outlive the caller.
var monitor = http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// Read fetches a page of a monitoring port.
func Read(ctx context.Context, url string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := monitor.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, resp.Status)
	}
	answer, err := bounded.All(resp.Body, 64<<20)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// Tuning are the server settings that a document may give without being trusted.
var Tuning = strings.Fields(`
max_payload max_pending max_connections max_control_line max_subscriptions max_sub_tokens max_closed_clients write_deadline
ping_interval ping_max debug lame_duck_duration lame_duck_grace_period disable_sublist_cache no_header_support
no_fast_producer_stall connect_error_reports reconnect_error_reports cluster.pool_size cluster.compression
`)
