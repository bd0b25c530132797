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

// Balance returns the settings of a balancer in front of these servers, host:port.
func Balance(servers []string) map[string]any {
	return map[string]any{"servers": strings.Join(servers, ",")}
}

// balancer is a load balancer of Debian's packages.
type balancer struct {
	product, version string
	program          string // which says its version with -v, behind the words said
	said             string
	conf             func(n *provision.Node, servers []string, pem string) string // pem: see certificate
	args             func(n *provision.Node, confPath string) []string
}

const balancerConf = "balancer.conf"

func (b balancer) register() {
	provision.Register(provision.Recipe{
		Broker: b.product, Part: true, Ports: []string{"client"}, MaxNodes: 1, TLS: true,
		Versions:  []provision.Version{{Name: b.version, Needs: []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}}}},
		Install:   b.install,
		Configure: b.configure,
		Command: func(n *provision.Node) (provision.Command, error) {
			return provision.TreeCommand(n.Cluster.Install, b.program, b.args(n, filepath.Join(n.Dir, balancerConf))...)
		},
		Ready: func(ctx context.Context, n *provision.Node) error { return asks(ctx, n, watched(n)) },
	})
}

// install unpacks a balancer of Debian 13, whose program has to say that it is of the version wanted.
func (b balancer) install(ctx context.Context, i *provision.Install) error {
	if err := i.AptTree(ctx, "trixie", b.product); err != nil {
		return err
	}
	c, err := provision.TreeCommand(i.Dir, b.program, "-v")
	if err != nil {
		return err
	}
	if said, err := i.Run(ctx, c); !strings.Contains(said, b.said+i.Version+".") {
		return errors.Join(fmt.Errorf("%s is not of version %s", b.product, i.Version), err)
	}
	return nil
}

func (b balancer) configure(_ context.Context, n *provision.Node) error {
	servers, err := behind(n)
	if err != nil {
		return err
	}
	pem, err := certificate(n)
	if err != nil {
		return err
	}
	return n.Write(balancerConf, []byte(b.conf(n, servers, pem)))
}

// behind returns the servers behind a balancer.
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

// watched returns a path that only this instance answers.
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
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+n.Address()+path, nil)
	if err != nil {
		return nil, err
	}
	r.Close = true
	return client.Do(r)
}

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

// Nginx is the recipe of the other load balancer, from Debian's packages.
const Nginx = "nginx"

func init() {
	balancer{
		product: Nginx, version: "1.26", program: "usr/sbin/nginx", said: "nginx/", conf: nginxConf,
		args: func(n *provision.Node, conf string) []string {
			return []string{"-p", n.Dir, "-c", conf, "-e", "stderr"}
		},
	}.register()
}

// nginxConf sends a request that a server refuses to another one. A request that a server has been sent is never sent to another: it
// may have been published. The client posts it again under its own key.
func nginxConf(n *provision.Node, servers []string, pem string) string {
	secure := ""
	if pem != "" {
		secure = " ssl;\n    ssl_certificate " + pem + ";\n    ssl_certificate_key " + pem
	}
	var b strings.Builder
	fmt.Fprintf(&b, `
daemon off;
worker_processes auto;
worker_rlimit_nofile 32768;
pid %[1]s/nginx.pid;
events { worker_connections 16384; }
http {
  access_log off;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  client_max_body_size 0;
  keepalive_timeout 120s;
  keepalive_requests 1000000000;
  upstream servers {
    keepalive 1024;
    keepalive_requests 1000000000;
`, n.Data)
	for _, address := range servers {
		fmt.Fprintf(&b, "    server %s max_fails=1 fail_timeout=1s;\n", address)
	}
	fmt.Fprintf(&b, `  }
  server {
    listen %s%s;
    location = %s { return 200; }
    location / {
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_connect_timeout 2s;
      proxy_read_timeout 60s;
    }
  }
}
`, n.Address(), secure, watched(n))
	return b.String()
}
