package fleet

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/clock"
)

// Address is the address of a control server and how its certificate is verified.
type Address struct {
	Server string // nats://host:port
	Pin    string // SHA-256 of its certificate, hexadecimal
	CA     string // or a file with authorities in PEM
}

const pinned = "sha256:"

// plainHost matches a host and its port of letters that need no quotes in a shell.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9._:%\[\]-]+$`)

// ParseAddress reads nats://HOST:PORT?pin=sha256:… or ?ca=FILE. Without either the connection is not encrypted, which is allowed
// for a server on this machine only.
func ParseAddress(text string) (Address, error) {
	bad := func(why string, args ...any) (Address, error) {
		return Address{}, fmt.Errorf("control server %q: %s; allowed is nats://HOST:PORT?pin=sha256:FINGERPRINT or nats://HOST:PORT?ca=FILE", text, fmt.Sprintf(why, args...))
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || !plainHost.MatchString(u.Host) || u.Hostname() == "" || u.Port() == "" {
		return bad("no address of a NATS server")
	}
	if u.User != nil {
		return Address{}, errors.New("the address of a control server holds no password: the token is read from --token-file")
	}
	a := Address{Server: "nats://" + u.Host}
	for name, values := range u.Query() {
		switch name {
		case "pin":
			pin, ok := strings.CutPrefix(values[0], pinned)
			if digest, err := hex.DecodeString(pin); !ok || err != nil || len(digest) != sha256.Size {
				return bad("pin is no fingerprint")
			}
			a.Pin = pin
		case "ca":
			a.CA = values[0]
		default:
			return bad("%s is unknown", name)
		}
	}
	if a.Pin == "" && a.CA == "" && !local(u.Hostname()) {
		return bad("a token, and brokers' passwords, may cross to another machine encrypted only")
	}
	return a, nil
}

func (a Address) hostPort() string { return strings.TrimPrefix(a.Server, "nats://") }

// local reports whether host is this machine's loopback.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// String returns the address in the form that ParseAddress reads.
func (a Address) String() string {
	switch {
	case a.Pin != "":
		return a.Server + "?pin=" + pinned + a.Pin
	case a.CA != "":
		return a.Server + "?ca=" + url.QueryEscape(a.CA)
	}
	return a.Server
}

// errPin is the error of a server whose certificate has another fingerprint.
var errPin = errors.New("its certificate is not the one with the fingerprint in the address: another program, or an attacker in between, answers there")

func (a Address) tls() (*tls.Config, error) {
	switch {
	case a.Pin != "":
		return &tls.Config{
			MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, // the certificate is compared as a whole instead
			VerifyConnection: func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) == 0 || subtle.ConstantTimeCompare([]byte(fingerprint(s.PeerCertificates[0].Raw)), []byte(a.Pin)) != 1 {
					return errPin
				}
				return nil
			},
		}, nil
	case a.CA != "":
		text, err := bounded.File(a.CA, maxSecret)
		if err != nil {
			return nil, fmt.Errorf("the control server's authorities: %w", err)
		}
		c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("the control server's authorities: %s holds no certificate in PEM form", a.CA)
		}
		return c, nil
	}
	return nil, nil
}

func fingerprint(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return hex.EncodeToString(sum[:])
}

// maxSecret bounds files with a token or certificates, in bytes.
const maxSecret = 1 << 20

// ReadToken reads the first line of a file that only its user may read.
func ReadToken(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("token file %s may be read by others (%#o): chmod 600 %s", file, mode, file)
	}
	text, err := bounded.File(file, maxSecret)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	return TokenOf("token file "+file, string(text))
}

// TokenOf returns the token in the first line of text. source names the text in errors.
func TokenOf(source, text string) (string, error) {
	line, _, _ := strings.Cut(text, "\n")
	if line = strings.TrimSpace(line); len(line) < minToken {
		return "", fmt.Errorf("%s: its first line has to be a token of at least %d characters", source, minToken)
	}
	return line, nil
}

const minToken = 16

// reachTime bounds one attempt to connect. During a reconnection nothing can be sent.
const reachTime = 2 * time.Second

// options returns the options of every connection to a control server, of the client that has the key. It reconnects for ever.
func options(token, key string) []nats.Option {
	return []nats.Option{
		nats.Token(token), nats.UserInfo(idOf(key), key), nats.CustomInboxPrefix(inboxOf(idOf(key))), nats.Name("brokermark"), nats.Timeout(reachTime), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond),
		nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond), nats.PingInterval(time.Second), nats.MaxPingsOutstanding(3),
	}
}

// connect connects to the control server as the client that has the key, and retries until ctx ends. say is called once if it has to wait.
func (a Address) connect(ctx context.Context, token, key string, say func(string, ...any), further ...nats.Option) (*nats.Conn, error) {
	config, err := a.tls()
	if err != nil {
		return nil, err
	}
	all := append(options(token, key), further...)
	if config != nil {
		all = append(all, nats.Secure(config))
	}
	for said := ""; ; {
		nc, err := nats.Connect(a.Server, all...)
		switch {
		case err == nil:
			return nc, nil
		case errors.Is(err, nats.ErrAuthorization):
			return nil, fmt.Errorf("the control server at %s does not accept the token", a.Server)
		case errors.Is(err, errPin):
			return nil, fmt.Errorf("the control server at %s: %w", a.Server, errPin)
		case errors.Is(err, nats.ErrSecureConnWanted):
			return nil, fmt.Errorf("the control server at %s does not encrypt", a.Server)
		case errors.Is(err, nats.ErrSecureConnRequired), config == nil && errors.As(err, new(*tls.CertificateVerificationError)):
			return nil, fmt.Errorf("the control server at %s encrypts: give its fingerprint (?pin=) or authorities (?ca=)", a.Server)
		case errors.As(err, new(*tls.CertificateVerificationError)):
			return nil, fmt.Errorf("the control server at %s: %w", a.Server, err)
		case said == "":
			said = err.Error()
			say("waiting for a control server at %s: %s", a.Server, reason(err))
		}
		if err := clock.Pause(ctx, 500*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// reason returns the text of a dial error without the words that the library adds.
func reason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), "nats: ")
}
