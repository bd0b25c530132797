// Package reach makes a driver's target of a node that was started here, as recipes need it to see whether the node is
// ready, and says what follows from the server's settings and version. It knows nothing of any product.
package reach

import (
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Node returns the node's client port, with the certificates and the login that the node demands.
func Node(n *provision.Node) (driver.Target, error) {
	t := driver.Target{Addresses: []string{n.Address()}, Version: n.Cluster.Version}
	if l := n.Cluster.Login; l != nil {
		t.User, t.Password = l.User, l.Password
	}
	var err error
	if n.Cluster.TLS != nil {
		t.TLS, err = n.Cluster.TLS.ClientConfig()
	}
	return t, err
}

// Follows returns what from derives from the settings with which t was, or would be, started; "" if another program started the server.
func Follows[T ~string](t driver.Target, from func(settings map[string]any) T) (what T) {
	if t.Server != nil {
		what = from(t.Server)
	}
	return what
}

// Config returns the configuration of a client of the node; set are the client settings that differ from the defaults.
func Config(n *provision.Node, settings []driver.Setting, set map[string]any) (driver.Config, error) {
	client, err := driver.Decode(settings, driver.ClientScope, set)
	if err != nil {
		return driver.Config{}, err
	}
	t, err := Node(n)
	return driver.Config{Client: client, Target: t}, err
}
