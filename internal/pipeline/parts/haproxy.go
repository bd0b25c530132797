package parts

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// HAProxy is the recipe of the load balancer, from Debian's packages.
const HAProxy = "haproxy"

const (
	haproxyProgram = "usr/sbin/haproxy"
	haproxyConf    = "haproxy.cfg"
	haproxyPEM     = "haproxy.pem"
)

// Balance are the settings of a balancer before these servers, host:port.
func Balance(servers []string) map[string]any {
	return map[string]any{"servers": strings.Join(servers, ",")}
}

func init() {
	provision.Register(provision.Recipe{
		Broker: HAProxy, Part: true, Ports: []string{"client"}, MaxNodes: 1, TLS: true,
		Versions:  []provision.Version{{Name: "3.0", Needs: []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}}}},
		Install:   installHAProxy,
		Configure: configureHAProxy,
		Command: func(n *provision.Node) (provision.Command, error) {
			return provision.TreeCommand(n.Cluster.Install, haproxyProgram, "-db", "-f", filepath.Join(n.Dir, haproxyConf))
		},
		Ready: func(ctx context.Context, n *provision.Node) error { return asks(ctx, n, watched(n)) },
	})
}

func installHAProxy(ctx context.Context, i *provision.Install) error {
	if err := i.AptTree(ctx, "trixie", "haproxy"); err != nil {
		return err
	}
	c, err := provision.TreeCommand(i.Dir, haproxyProgram, "-v")
	if err != nil {
		return err
	}
	script := `case "$("$@" 2>&1)" in *"version ` + i.Version + `."*) ;; *) echo "not ` + i.Version + `"; exit 1;; esac`
	return i.Exec(ctx, i.Dir, "sh", append([]string{"-c", script, "sh", c.Path}, c.Args...)...)
}

// watched is a path that only this instance answers by itself.
func watched(n *provision.Node) string { return "/" + n.Cluster.ID }

// configureHAProxy lets a server that refuses connections be, and sends the request to another one; one that answers with an
// error answers for itself.
func configureHAProxy(_ context.Context, n *provision.Node) error {
	var servers []string
	for name, value := range n.Cluster.Settings {
		text, ok := value.(string)
		if name != "servers" || !ok || text == "" {
			return &provision.ErrSetting{Name: name, Reason: "known: servers, their addresses with commas between them"}
		}
		servers = strings.Split(text, ",")
	}
	if len(servers) == 0 {
		return &provision.ErrRefused{Broker: HAProxy, Reason: "it needs servers: --server servers=127.0.0.1:8080"}
	}
	secure := ""
	if f := n.Cluster.TLS; f != nil {
		pem, err := bundle(f.Cert, f.Key)
		if err != nil {
			return err
		}
		if err := n.Write(haproxyPEM, pem); err != nil {
			return err
		}
		secure = " ssl crt " + filepath.Join(n.Dir, haproxyPEM)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `
defaults
  mode http
  timeout connect 2s
  timeout client 120s
  timeout server 60s
  option redispatch 1
  retries 3
frontend rides
  bind %s%s
  monitor-uri %s
  default_backend servers
backend servers
  balance roundrobin
  http-reuse safe
  option httpchk GET /health
`, listen(n), secure, watched(n))
	for i, address := range servers {
		if strings.ContainsAny(address, " \t\r\n") {
			return &provision.ErrSetting{Name: "servers", Reason: fmt.Sprintf("%q is not an address", address)}
		}
		fmt.Fprintf(&b, "  server s%d %s check inter 200ms fall 2 rise 1\n", i+1, address)
	}
	return n.Write(haproxyConf, []byte(b.String()))
}

func bundle(files ...string) (pem []byte, err error) {
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		pem = append(pem, text...)
	}
	return pem, nil
}

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
		scheme, client.Transport = "https", transport(c)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+listen(n)+path, nil)
	if err != nil {
		return nil, err
	}
	r.Close = true
	return client.Do(r)
}

func transport(c *tls.Config) *http.Transport {
	return &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}
}
