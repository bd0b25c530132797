package parts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// Balance are the settings of a balancer before these servers, host:port.
func Balance(servers []string) map[string]any {
	return map[string]any{"servers": strings.Join(servers, ",")}
}

// registerBalancer registers a balancer of Debian's packages, of which program is run with args. With -v it says its version,
// after the word before.
func registerBalancer(product, version, program, before string, configure func(context.Context, *provision.Node) error, args func(*provision.Node) []string) {
	provision.Register(provision.Recipe{
		Broker: product, Part: true, Ports: []string{"client"}, MaxNodes: 1, TLS: true,
		Versions:  []provision.Version{{Name: version, Needs: []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}}}},
		Install:   installBalancer(product, program, before),
		Configure: configure,
		Command: func(n *provision.Node) (provision.Command, error) {
			return provision.TreeCommand(n.Cluster.Install, program, args(n)...)
		},
		Ready: func(ctx context.Context, n *provision.Node) error { return asks(ctx, n, watched(n)) },
	})
}

// installBalancer unpacks a balancer of Debian 13, whose program has to say that it is of the version wanted.
func installBalancer(product, program, before string) func(context.Context, *provision.Install) error {
	return func(ctx context.Context, i *provision.Install) error {
		if err := i.AptTree(ctx, "trixie", product); err != nil {
			return err
		}
		c, err := provision.TreeCommand(i.Dir, program, "-v")
		if err != nil {
			return err
		}
		if said, err := i.Run(ctx, c); !strings.Contains(said, before+i.Version+".") {
			return errors.Join(fmt.Errorf("%s is not of version %s", product, i.Version), err)
		}
		return nil
	}
}

// behind are the servers that a balancer stands before.
func behind(n *provision.Node) (servers []string, err error) {
	name := n.Cluster.Recipe.Broker
	for setting, value := range n.Cluster.Settings {
		text, ok := value.(string)
		if setting != "servers" || !ok || text == "" {
			return nil, &provision.ErrSetting{Name: setting, Reason: "known: servers, their addresses with commas between them"}
		}
		servers = strings.Split(text, ",")
	}
	if len(servers) == 0 {
		return nil, &provision.ErrRefused{Broker: name, Reason: "it needs servers: --server servers=127.0.0.1:8080"}
	}
	for _, address := range servers {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" || strings.ContainsAny(address, " \t\r\n;{}") {
			return nil, &provision.ErrSetting{Name: "servers", Reason: fmt.Sprintf("%q is not host:port", address)}
		}
	}
	return servers, nil
}

const balancerPEM = "balancer.pem"

// certificate writes the balancer's certificate with its key into one file; "" where it is to speak plain HTTP.
func certificate(n *provision.Node) (path string, err error) {
	f := n.Cluster.TLS
	if f == nil {
		return "", nil
	}
	cert, err := os.ReadFile(f.Cert)
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(f.Key)
	if err != nil {
		return "", err
	}
	return filepath.Join(n.Dir, balancerPEM), n.Write(balancerPEM, append(cert, key...))
}

// watched is a path that only this instance answers by itself.
func watched(n *provision.Node) string { return "/" + n.Cluster.ID }

// asks wants 200 at a path of the node's client port.
func asks(ctx context.Context, n *provision.Node, path string) error {
	a, err := ask(ctx, n, path)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return fmt.Errorf("port %d answers %s: another program may have taken it", n.Ports["client"], a.Status)
	}
	return nil
}

// ask gets a path of the node's client port, over TLS where it has some.
func ask(ctx context.Context, n *provision.Node, path string) (*http.Response, error) {
	scheme, client := "http", &http.Client{}
	if f := n.Cluster.TLS; f != nil {
		c, err := f.ClientConfig()
		if err != nil {
			return nil, err
		}
		scheme, client.Transport = "https", &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+listen(n)+path, nil)
	if err != nil {
		return nil, err
	}
	r.Close = true
	return client.Do(r)
}
