package parts

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// HAProxy is the recipe of a load balancer, from Debian's packages.
const HAProxy = "haproxy"

const (
	haproxyProgram = "usr/sbin/haproxy"
	haproxyConf    = "haproxy.cfg"
)

func init() {
	registerBalancer(HAProxy, "3.0", haproxyProgram, "version ", configureHAProxy, func(n *provision.Node) []string {
		return []string{"-db", "-f", filepath.Join(n.Dir, haproxyConf)}
	})
}

// configureHAProxy lets a server that refuses connections be, and sends the request to another one; one that answers with an
// error answers for itself.
func configureHAProxy(_ context.Context, n *provision.Node) error {
	servers, err := behind(n)
	if err != nil {
		return err
	}
	pem, err := certificate(n)
	if err != nil {
		return err
	}
	secure := ""
	if pem != "" {
		secure = " ssl crt " + pem
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
		fmt.Fprintf(&b, "  server s%d %s check inter 200ms fall 2 rise 1\n", i+1, address)
	}
	return n.Write(haproxyConf, []byte(b.String()))
}
