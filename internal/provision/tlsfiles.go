package provision

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// TLSFiles are the PEM files of one cluster: its own certificate authority, one server certificate valid for localhost and
// 127.0.0.1, and one client certificate. They belong to our user; the broker's user may read them.
type TLSFiles struct {
	CA                    string // ca.pem
	Cert, Key             string // server.pem, server.key (PKCS#8)
	ClientCert, ClientKey string
	Mutual                bool // the broker refuses clients without a certificate of this authority
}

const certificateLife = 30 * 24 * time.Hour

// NodeRole marks the certificates of nodes; clients' certificates don't have it.
const NodeRole = "node"

// makeTLSFiles creates a certificate authority for every cluster; its key never reaches the disk. The group, unless it is 0, may
// read the files but not change them, because we read them again later.
func makeTLSFiles(dir, name string, group int) (*TLSFiles, error) {
	f := &TLSFiles{
		CA:   filepath.Join(dir, "ca.pem"),
		Cert: filepath.Join(dir, "server.pem"), Key: filepath.Join(dir, "server.key"),
		ClientCert: filepath.Join(dir, "client.pem"), ClientKey: filepath.Join(dir, "client.key"),
	}
	ca, err := newAuthority(name)
	if err != nil {
		return nil, err
	}
	node, err := ca.issue("localhost", 2, "0:"+NodeRole) // as BookKeeper expects roles
	if err != nil {
		return nil, err
	}
	client, err := ca.issue(name+" client", 3)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Mkdir(dir, privateDir), show(dir, group)); err != nil {
		return nil, err
	}
	for path, content := range map[string][]byte{
		f.CA: ca.Cert, f.Cert: node.Cert, f.Key: node.Key, f.ClientCert: client.Cert, f.ClientKey: client.Key,
	} {
		if err := errors.Join(os.WriteFile(path, content, privateFile), show(path, group)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// ClientConfig trusts only the cluster's own authority, and presents the client certificate on request.
func (f *TLSFiles) ClientConfig() (*tls.Config, error) {
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(f.ClientCert, f.ClientKey)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s holds no certificate", f.CA)
	}
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// KeyPair is a certificate with its key (PKCS#8), in PEM.
type KeyPair struct {
	Cert, Key []byte
	cert      *x509.Certificate
	key       *ecdsa.PrivateKey
}

// NewKeyPair creates a key and a certificate for it, signed by the issuer; nil: self-signed.
func NewKeyPair(t *x509.Certificate, issuer *KeyPair) (*KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	parent, by := t, key
	if issuer != nil {
		parent, by = issuer.cert, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), by)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	return &KeyPair{Cert: block("CERTIFICATE", der), Key: block("PRIVATE KEY", pkcs8), cert: cert, key: key}, err
}

func newAuthority(name string) (*KeyPair, error) {
	t := certificate(name+" authority", 1)
	t.IsCA, t.BasicConstraintsValid, t.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	return NewKeyPair(t, nil)
}

// issue makes a pair that serves both sides: cluster nodes are clients of each other.
func (p *KeyPair) issue(name string, serial int64, unit ...string) (*KeyPair, error) {
	t := certificate(name, serial)
	t.Subject.OrganizationalUnit = unit
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	t.DNSNames = []string{"localhost"}
	t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	return NewKeyPair(t, p)
}

func certificate(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
	}
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
