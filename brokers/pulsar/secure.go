package pulsar

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/GehirnInc/crypt/apr1_crypt"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

// secured adds to a broker's own settings what TLS and a login need.
func secured(n *provision.Node, own map[string]string) (map[string]string, error) {
	if n.Cluster.TLS != nil {
		encrypted(n, own)
	}
	if n.Cluster.Login != nil {
		if err := guarded(n.Cluster, own); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// writeStores writes the node's keys as java reads them, and the stores' password for programs that want it in a file.
func writeStores(n *provision.Node) error {
	stores, err := jvm.NewKeyStores(n)
	return errors.Join(err, n.Write(filepath.Base(storesPassword(n)), []byte(stores.Password)))
}

func storesPassword(n *provision.Node) string { return filepath.Join(n.Dir, "stores.password") }

// encrypted has the broker speak TLS and nothing else, with other brokers too: with the PEM files, or with the PKCS #12
// stores of the same keys where tlsEnabledWithKeyStore is asked for.
func encrypted(n *provision.Node, own map[string]string) {
	t, stores := n.Cluster.TLS, jvm.KeyStoresOf(n)
	own["brokerServicePort"], own["brokerServicePortTls"] = "", strconv.Itoa(n.Ports["client"])
	own["webServicePort"], own["webServicePortTls"] = "", strconv.Itoa(n.Ports[webPort])
	own["tlsCertificateFilePath"], own["tlsKeyFilePath"], own["tlsTrustCertsFilePath"] = t.Cert, t.Key, t.CA
	own["tlsKeyStoreType"], own["tlsKeyStore"], own["tlsKeyStorePassword"] = "PKCS12", stores.Keys, stores.Password
	own["tlsTrustStoreType"], own["tlsTrustStore"], own["tlsTrustStorePassword"] = "PKCS12", stores.Trust, stores.Password
	own["brokerClientTlsEnabled"], own["brokerClientTrustCertsFilePath"] = "true", t.CA
	own["brokerClientCertificateFilePath"], own["brokerClientKeyFilePath"] = t.Cert, t.Key
	if t.Mutual {
		own["tlsRequireTrustedClientCertOnConnect"] = "true"
	}
	if sealed(n.Cluster) {
		own["bookkeeperTLSClientAuthentication"], own["bookkeeperTLSTrustCertsFilePath"] = "true", t.CA
		own["bookkeeperTLSCertificateFilePath"], own["bookkeeperTLSKeyFilePath"] = t.Cert, t.Key
	}
}

// sealed: bookies and ZooKeepers serve only who has the certificate of a node, and encrypt what they say. A server alone does
// so where its clients need certificates; else what it says to itself is as plain as what it writes.
func sealed(c *provision.Cluster) bool { return c.TLS != nil && (c.TLS.Mutual || !alone(c)) }

// guardBookie has the bookie serve nodes only. It takes a certificate where a client begins TLS, which each client decides for
// itself: it's the authorisation that refuses the others. The bookie's administration, which knows no login, demands a
// certificate where clients need one.
func guardBookie(n *provision.Node, own map[string]string) {
	stores := jvm.KeyStoresOf(n)
	if sealed(n.Cluster) {
		own["tlsProviderFactoryClass"], own["tlsClientAuthentication"] = "org.apache.bookkeeper.tls.TLSContextFactory", "true"
		own["tlsKeyStoreType"], own["tlsKeyStore"], own["tlsKeyStorePasswordPath"] = "PKCS12", stores.Keys, storesPassword(n)
		own["tlsTrustStoreType"], own["tlsTrustStore"], own["tlsTrustStorePasswordPath"] = "PKCS12", stores.Trust, storesPassword(n)
		own["bookieAuthProviderFactoryClass"], own["authorizedRoles"] = "org.apache.bookkeeper.tls.BookieAuthZFactory", provision.NodeRole
	}
	if mutual(n.Cluster) {
		own["httpServerTlsEnable"] = "true"
		own["httpServerKeyStorePath"], own["httpServerKeyStorePassword"] = stores.Keys, stores.Password
		own["httpServerTrustStorePath"], own["httpServerTrustStorePassword"] = stores.Trust, stores.Password
	}
}

// zooKeeperTLS are java's options for ZooKeepers and for their clients, who read the same ones.
func zooKeeperTLS(n *provision.Node) []string {
	if alone(n.Cluster) || !sealed(n.Cluster) {
		return nil
	}
	stores := jvm.KeyStoresOf(n)
	options := []string{"-Dzookeeper.client.secure=true", "-Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty"}
	for _, scope := range []string{"ssl", "ssl.quorum"} {
		at := "-Dzookeeper." + scope
		options = append(options, at+".keyStore.location="+stores.Keys, at+".keyStore.passwordPath="+storesPassword(n),
			at+".trustStore.location="+stores.Trust, at+".trustStore.passwordPath="+storesPassword(n))
	}
	return options
}

func mutual(c *provision.Cluster) bool { return c.TLS != nil && c.TLS.Mutual }

// webURL is the address of the broker's administration.
func webURL(n *provision.Node) string {
	if n.Cluster.TLS != nil {
		return local(n, "https://", webPort)
	}
	return local(n, "http://", webPort)
}

// bookieURL is the address of the bookie's administration.
func bookieURL(n *provision.Node) string {
	if mutual(n.Cluster) {
		return local(n, "https://", bookieAdmin)
	}
	return local(n, "http://", bookieAdmin)
}

// guarded lets the cluster's user in, who administers, too, and whoever has a token where there is a key to tokens.
func guarded(c *provision.Cluster, own map[string]string) error {
	hash, err := apr1_crypt.New().Generate([]byte(c.Login.Password), nil)
	if err != nil {
		return fmt.Errorf("hash the password: %w", err)
	}
	self, err := json.Marshal(map[string]string{"userId": c.Login.User, "password": c.Login.Password})
	if err != nil {
		return err
	}
	const providers = "org.apache.pulsar.broker.authentication.AuthenticationProvider"
	own["authenticationEnabled"], own["authenticationProviders"], own["superUserRoles"] = "true", providers+"Basic", c.Login.User
	if c.Settings["tokenSecretKey"] != nil || c.Settings["tokenPublicKey"] != nil {
		own["authenticationProviders"] += "," + providers + "Token"
	}
	own["basicAuthConf"] = "data:;base64," + base64.StdEncoding.EncodeToString([]byte(c.Login.User+":"+hash))
	own["brokerClientAuthenticationPlugin"] = "org.apache.pulsar.client.impl.auth.AuthenticationBasic"
	own["brokerClientAuthenticationParameters"] = string(self)
	return nil
}
