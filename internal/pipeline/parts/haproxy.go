package parts

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// HAProxy is the recipe of a load balancer, from Debian's packages.
const HAProxy = "haproxy"

func init() {
	balancer{
		product: HAProxy, version: "3.0", program: "usr/sbin/haproxy", said: "version ", conf: haproxyConf,
		args: func(_ *provision.Node, conf string) []string { return []string{"-db", "-f", conf} },
	}.register()
}

// haproxyConf sends a request that a server refuses to another one; a server that answers with an error answers for itself.
func haproxyConf(n *provision.Node, servers []string, pem string) string {
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
`, n.Address(), secure, watched(n))
	for i, address := range servers {
		fmt.Fprintf(&b, "  server s%d %s check inter 200ms fall 2 rise 1\n", i+1, address)
	}
	return b.String()
}
