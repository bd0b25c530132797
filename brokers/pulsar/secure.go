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

// secured adds the settings of TLS and login to a broker's own settings.
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

// writeStores writes the node's keys in Java's format, and the stores' password for programs that need it in a file.
func writeStores(n *provision.Node) error {
	stores, err := jvm.NewKeyStores(n)
	return errors.Join(err, n.Write(filepath.Base(storesPassword(n)), []byte(stores.Password)))
}

func storesPassword(n *provision.Node) string { return filepath.Join(n.Dir, "stores.password") }

// encrypted makes the broker speak only TLS, with other brokers too: with the PEM files or, if tlsEnabledWithKeyStore is set,
// with the PKCS #12 stores of the same keys.
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

// sealed reports whether bookies and ZooKeepers require a node's certificate and encrypt their traffic. A single server does so
// if its clients need certificates; otherwise its internal traffic is as plain as its files.
func sealed(c *provision.Cluster) bool { return c.TLS != nil && (c.TLS.Mutual || !alone(c)) }

// guardBookie makes the bookie serve nodes only. It requires a certificate from clients that use TLS, but each client decides
// that for itself: the authorisation refuses the others. The bookie's admin interface, which has no login, requires a certificate
// if clients need one.
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

// zooKeeperTLS are Java options for ZooKeepers and their clients, which read the same ones.
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

// webURL is the address of the broker's admin interface.
func webURL(n *provision.Node) string {
	if n.Cluster.TLS != nil {
		return "https://" + n.At(webPort)
	}
	return "http://" + n.At(webPort)
}

// bookieURL is the address of the bookie's admin interface.
func bookieURL(n *provision.Node) string {
	if mutual(n.Cluster) {
		return "https://" + n.At(bookieAdmin)
	}
	return "http://" + n.At(bookieAdmin)
}

// guarded admits the cluster's user, who is also the administrator, and any client with a valid token if there is a key for tokens.
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
