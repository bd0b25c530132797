package kafka

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

// guard enables TLS and a login on the client ports; the nodes of a cluster also talk to each other through one of them.
// Controllers use TLS among each other and with brokers, and accept only nodes with a certificate.
func guard(n *provision.Node, own map[string]string) error {
	if c := n.Cluster; onZooKeeper(c.Version) && c.Login != nil && c.TLS != nil && c.TLS.Mutual {
		return &provision.ErrRefused{Broker: "kafka", Reason: "version " + c.Version + " demands either a client certificate or a login; where it has logins it lets in who has no certificate"}
	}
	protocol := "PLAINTEXT"
	listeners := []string{"CLIENT"}
	if n.Far != "" {
		listeners = append(listeners, "FAR")
	}
	ofEach := func(setting, value string) {
		for _, listener := range listeners {
			own["listener.name."+strings.ToLower(listener)+"."+setting] = value
		}
	}
	if login := n.Cluster.Login; login != nil {
		protocol = "SASL_PLAINTEXT"
		own["sasl.enabled.mechanisms"], own["sasl.mechanism.inter.broker.protocol"] = "PLAIN", "PLAIN"
		ofEach("plain.sasl.jaas.config", fmt.Sprintf(
			`org.apache.kafka.common.security.plain.PlainLoginModule required username="%[1]s" password="%[2]s" user_%[1]s="%[2]s";`, login.User, login.Password))
	}
	if t := n.Cluster.TLS; t != nil {
		protocol = map[string]string{"PLAINTEXT": "SSL", "SASL_PLAINTEXT": "SASL_SSL"}[protocol]
		stores, err := jvm.NewKeyStores(n)
		if err != nil {
			return err
		}
		own["ssl.keystore.type"], own["ssl.keystore.location"], own["ssl.keystore.password"] = "PKCS12", stores.Keys, stores.Password
		own["ssl.truststore.type"], own["ssl.truststore.location"], own["ssl.truststore.password"] = "PKCS12", stores.Trust, stores.Password
		own["ssl.key.password"] = stores.Password
		if t.Mutual { // without the listener's name it would be ignored if there is a login, too
			ofEach("ssl.client.auth", "required")
		}
	}
	own["listener.security.protocol.map"] = strings.Join(listeners, ":"+protocol+",") + ":" + protocol
	if !onZooKeeper(n.Cluster.Version) {
		between := "PLAINTEXT"
		if n.Cluster.TLS != nil {
			between = "SSL"
			own["listener.name.controller.ssl.client.auth"] = "required"
		}
		own["listener.security.protocol.map"] += ",CONTROLLER:" + between
	}
	return nil
}
