package pulsar

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/GehirnInc/crypt/apr1_crypt"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

// secured adds to a broker's own settings what TLS and a login need.
func secured(n *provision.Node, own map[string]string) (map[string]string, error) {
	if n.Cluster.TLS != nil {
		if err := encrypted(n, own); err != nil {
			return nil, err
		}
	}
	if n.Cluster.Login != nil {
		if err := guarded(n.Cluster, own); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// encrypted has the broker speak TLS on the client port: with the PEM files, or with the PKCS #12 stores of the same
// keys where tlsEnabledWithKeyStore is asked for.
func encrypted(n *provision.Node, own map[string]string) error {
	t := n.Cluster.TLS
	own["brokerServicePort"], own["brokerServicePortTls"] = fmt.Sprint(n.Ports[plainPort]), fmt.Sprint(n.Ports["client"])
	own["tlsCertificateFilePath"], own["tlsKeyFilePath"], own["tlsTrustCertsFilePath"] = t.Cert, t.Key, t.CA
	stores, err := jvm.NewKeyStores(n)
	own["tlsKeyStoreType"], own["tlsKeyStore"], own["tlsKeyStorePassword"] = "PKCS12", stores.Keys, stores.Password
	own["tlsTrustStoreType"], own["tlsTrustStore"], own["tlsTrustStorePassword"] = "PKCS12", stores.Trust, stores.Password
	if t.Mutual {
		own["tlsRequireTrustedClientCertOnConnect"] = "true"
	}
	return err
}

// guardBookie has the bookie's administration, which knows no login, demand a client certificate where clients need one.
func guardBookie(n *provision.Node, own map[string]string) error {
	if !mutual(n.Cluster) {
		return nil
	}
	stores, err := jvm.NewKeyStores(n)
	own["httpServerTlsEnable"] = "true"
	own["httpServerKeyStorePath"], own["httpServerKeyStorePassword"] = stores.Keys, stores.Password
	own["httpServerTrustStorePath"], own["httpServerTrustStorePassword"] = stores.Trust, stores.Password
	return err
}

func mutual(c *provision.Cluster) bool { return c.TLS != nil && c.TLS.Mutual }

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
