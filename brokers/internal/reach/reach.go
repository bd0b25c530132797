// Package reach makes a driver's target of a node that was started here, as recipes need it to see whether the node is
// ready. It knows nothing of any product.
package reach

import (
	"net"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Node is the node's client port, with the certificates and the login that the node demands.
func Node(n *provision.Node) (driver.Target, error) {
	t := driver.Target{Addresses: []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Ports["client"]))}, Version: n.Cluster.Version}
	if l := n.Cluster.Login; l != nil {
		t.User, t.Password = l.User, l.Password
	}
	var err error
	if n.Cluster.TLS != nil {
		t.TLS, err = n.Cluster.TLS.ClientConfig()
	}
	return t, err
}

// Instance is the running instance: its nodes, certificates, login and further addresses.
func Instance(in *provision.Instance) driver.Target {
	t := driver.Target{Addresses: in.Addresses(), TLS: in.ClientTLS(), Version: in.Version(), Endpoints: in.Endpoints()}
	if l := in.Login(); l != nil {
		t.User, t.Password = l.User, l.Password
	}
	return t
}
