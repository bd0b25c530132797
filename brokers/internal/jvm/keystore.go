package jvm

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/brokermark/brokermark/internal/provision"
)

// KeyStores are the PKCS #12 files of one node: its own key with its certificate, and the authority whose clients it
// trusts.
type KeyStores struct{ Keys, Trust, Password string }

const (
	keysFile  = "keys.p12"
	trustFile = "trust.p12"
)

// KeyStoresOf returns the node's key stores, written yet or not. The password guards nothing that doesn't lie beside it:
// java refuses stores without one.
func KeyStoresOf(n *provision.Node) KeyStores {
	return KeyStores{Keys: filepath.Join(n.Dir, keysFile), Trust: filepath.Join(n.Dir, trustFile), Password: "brokermark"}
}

// NewKeyStores writes the node's key stores from the cluster's PEM files.
func NewKeyStores(n *provision.Node) (KeyStores, error) {
	t := n.Cluster.TLS
	s := KeyStoresOf(n)
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return s, err
	}
	text, err := os.ReadFile(t.CA)
	if err != nil {
		return s, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return s, fmt.Errorf("%s holds no certificate", t.CA)
	}
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return s, err
	}
	keys, errK := pkcs12.Modern.Encode(pair.PrivateKey, pair.Leaf, []*x509.Certificate{ca}, s.Password)
	trust, errT := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca}, s.Password)
	return s, errors.Join(errK, errT, n.Write(keysFile, keys), n.Write(trustFile, trust))
}
