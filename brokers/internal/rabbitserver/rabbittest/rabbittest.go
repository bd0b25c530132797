// Package rabbittest has what the tests of RabbitMQ's protocols share: users with few rights, and a node that has raised an alarm.
package rabbittest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// Rights are regular expressions of the names that a user may create, write to and read.
type Rights struct {
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// Managed returns broker with its management interface.
func Managed(broker string) provision.Options {
	return provision.Options{Broker: broker, Server: map[string]any{rabbitserver.EnabledPlugins: rabbitserver.Management}}
}

// User creates a user with these rights on a Managed node, and returns a target that logs in as this user.
func User(t *testing.T, target driver.Target, name string, r Rights) driver.Target {
	t.Helper()
	const password = "sesame"
	put(t, target, "/api/users/"+url.PathEscape(name), map[string]string{"password": password, "tags": ""})
	put(t, target, "/api/permissions/%2F/"+url.PathEscape(name), r)
	target.User, target.Password = name, password
	return target
}

func put(t *testing.T, target driver.Target, path string, body any) {
	t.Helper()
	text, err := json.Marshal(body)
	livetest.Must(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, target.Endpoints[rabbitserver.ManagementRole]+path, bytes.NewReader(text))
	livetest.Must(t, err)
	r.SetBasicAuth("guest", "guest")
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	livetest.Must(t, err)
	defer a.Body.Close()
	if a.StatusCode/100 != 2 {
		t.Fatalf("%s: %s", path, a.Status)
	}
}

// WithoutWrite connects to broker as a user who may write only to queues of these names, once for each guarantee; says is a
// part of the server's error.
func WithoutWrite(t *testing.T, broker, queues, says string, guarantees ...driver.Guarantee) {
	t.Helper()
	_, target := livetest.Start(t, Managed(broker))
	target = User(t, target, "reader", Rights{Configure: ".*", Write: queues, Read: ".*"})
	var denials []drivertest.Denial
	for _, g := range guarantees {
		denials = append(denials, drivertest.Denial{Name: string(g.Delivery) + " without write", Target: target, Guarantee: g, Says: says})
	}
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, broker)}, denials...)
}

// Certified starts broker so that a client certificate is a login, and returns the target whose certificate names a user.
func Certified(t *testing.T, broker string) driver.Target {
	t.Helper()
	_, target := livetest.Start(t, provision.Options{Broker: broker, Mutual: true, Server: map[string]any{
		rabbitserver.EnabledPlugins: rabbitserver.Management + "," + rabbitserver.Certificates,
		"auth_mechanisms.1":         "EXTERNAL", "auth_mechanisms.2": "PLAIN", "auth_mechanisms.3": "ANONYMOUS", "ssl_cert_login_from": "common_name",
	}})
	target = User(t, target, target.TLS.Certificates[0].Leaf.Subject.CommonName, Rights{Configure: ".*", Write: ".*", Read: ".*"})
	target.Login, target.User, target.Password = driver.ByCertificate, "", ""
	return target
}
