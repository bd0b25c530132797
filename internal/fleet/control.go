package fleet

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/brokermark/brokermark/internal/provision"
)

// Control is a control server in this process.
type Control struct {
	server *server.Server
	host   string // as it listens
	port   int
	Token  string
	own    string // the token of this process
	// Join is how agents reach it.
	Join Address
}

// The files of a control server are kept, so that agents need no new address or token when it is started again.
const (
	tokenFile = "token"
	certFile  = "control.pem"
	keyFile   = "control.key"
)

// Listen starts a control server on HOST:PORT. dir keeps its certificate, and its token if token is "".
func Listen(listen, dir, token string) (*Control, error) {
	host, portText, err := net.SplitHostPort(listen)
	port, errPort := strconv.Atoi(portText)
	if err = errors.Join(err, errPort); err != nil {
		return nil, fmt.Errorf("control server: %q is no HOST:PORT", listen)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	unlock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if token == "" {
		if token, err = keptToken(filepath.Join(dir, tokenFile)); err != nil {
			return nil, err
		}
	}
	pair, err := keptCertificate(dir)
	if err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", net.JoinHostPort(host, portText)) // the server itself would only log why it can't
	if err != nil {
		return nil, fmt.Errorf("control server: %w", err)
	}
	if port == 0 {
		port = free.Addr().(*net.TCPAddr).Port
	}
	if err := free.Close(); err != nil {
		return nil, err
	}
	own := rand.Text()
	s, err := server.NewServer(&server.Options{
		ServerName: "brokermark", Host: host, Port: port, CustomClientAuthentication: gate{token, own}, NoLog: true, NoSigs: true,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, TLS: true, TLSTimeout: 5, AuthTimeout: 6,
		PingInterval: time.Second, MaxPingsOut: 5, DisableShortFirstPing: true, NoSystemAccount: true,
		// Agents come back by the address that they were given: others may be on networks that they don't reach, or past a tunnel.
		Cluster: server.ClusterOpts{NoAdvertise: true},
	})
	if err != nil {
		return nil, fmt.Errorf("control server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("the control server on %s did not start within 10 s", listen)
	}
	reached := host
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // of all addresses, its name stands for the others
		if reached, err = os.Hostname(); err != nil {
			reached = "127.0.0.1"
		}
	}
	return &Control{
		server: s, host: host, port: port, Token: token, own: own,
		Join: Address{Server: "nats://" + net.JoinHostPort(reached, strconv.Itoa(port)), Pin: fingerprint(pair.Certificate[0])},
	}, nil
}

// connect returns a connection within this process.
func (c *Control) connect() (*nats.Conn, error) {
	return nats.Connect("", append(options(c.own, rand.Text()), nats.InProcessServer(c.server))...)
}

// Close ends the server and all connections.
func (c *Control) Close() {
	c.server.Shutdown()
	c.server.WaitForShutdown()
}

// TokenFile returns the file in which a control server keeps the token that it made.
func TokenFile(dir string) string { return filepath.Join(dir, tokenFile) }

// lockFolder waits until no other process makes a token and a certificate in dir.
func lockFolder(dir string) (unlock func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// keptToken reads the token, or creates one in a file that only its user may read.
func keptToken(file string) (string, error) {
	token, err := ReadToken(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	made := rand.Text()
	return made, os.WriteFile(file, []byte(made+"\n"), 0o600)
}

// keptCertificate reads the certificate and its key, or creates them.
func keptCertificate(dir string) (tls.Certificate, error) {
	cert, key := filepath.Join(dir, certFile), filepath.Join(dir, keyFile)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if !errors.Is(err, fs.ErrNotExist) {
		return pair, err
	}
	host, _ := os.Hostname()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "brokermark control server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost", host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	made, err := provision.NewKeyPair(template, nil)
	if err != nil {
		return pair, err
	}
	if err := errors.Join(os.WriteFile(key, made.Key, 0o600), os.WriteFile(cert, made.Cert, 0o644)); err != nil {
		return pair, err
	}
	return tls.X509KeyPair(made.Cert, made.Key)
}

// idOf returns the ID of the agent, or of another client, that has a key: only the holder of the key can have it.
func idOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// inboxOf returns the prefix of the subjects at which a client gets its answers.
func inboxOf(id string) string { return "_INBOX." + id }

// gate lets clients in that have the token, and gives each the permissions of an agent: it can neither read what another one is told
// nor answer in its place. The coordinator, which is in the server's process, has a token of its own and may do everything.
type gate struct{ token, coordinator string }

// Check implements server.Authentication.
func (g gate) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if equal(o.Token, g.coordinator) {
		return true
	}
	if !equal(o.Token, g.token) || o.Username != idOf(o.Password) {
		return false
	}
	c.RegisterUser(&server.User{Username: o.Username, Permissions: permissionsOf(o.Username)})
	return true
}

func equal(a, b string) bool {
	one, two := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(one[:], two[:]) == 1
}

// newInbox returns the subject of an answer, which only those can know who get the question: every agent may speak at inboxes. The server
// could let each speak where it is asked to, but an agent that asks itself would choose that place.
func newInbox(nc *nats.Conn) string { return nc.Opts.InboxPrefix + "." + rand.Text() }

// permissionsOf returns an agent's permissions. It may answer, and list the agents.
func permissionsOf(id string) *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{subjectUp(id, "*"), micro.APIPrefix + ".STATS." + service, inboxOf(">")}},
		Subscribe: &server.SubjectPermission{Allow: []string{
			subjectDown(id, "*"), subjectOf(id, "*"), micro.APIPrefix + ".>", inboxOf(id) + ".>",
		}},
	}
}
