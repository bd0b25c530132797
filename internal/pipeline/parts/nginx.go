package parts

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

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
