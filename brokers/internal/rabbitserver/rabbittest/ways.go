package rabbittest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/oauth/oauthtest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Certified starts broker so that a client certificate is a login, and returns the target whose certificate names a user.
func Certified(t *testing.T, broker string) driver.Target {
	t.Helper()
	_, target := livetest.Start(t, provision.Options{Broker: broker, Mutual: true, Server: map[string]any{
		rabbitserver.EnabledPlugins: rabbitserver.Management + "," + rabbitserver.Certificates,
		"auth_mechanisms.1":         "EXTERNAL", "auth_mechanisms.2": "PLAIN", "auth_mechanisms.3": "ANONYMOUS", "ssl_cert_login_from": "common_name",
	}})
	shown, err := x509.ParseCertificate(target.TLS.Certificates[0].Certificate[0])
	livetest.Must(t, err)
	target = User(t, target, shown.Subject.CommonName, Rights{Configure: ".*", Write: ".*", Read: ".*"})
	target.Login, target.User, target.Password = driver.ByCertificate, "", ""
	return target
}

// Keyed are a server's tokens.
type Keyed struct {
	Target driver.Target
	key    *rsa.PrivateKey
}

const (
	keyName  = "bench-key"
	resource = "rabbitmq"
)

// WithTokens starts broker so that it takes tokens that a key has signed, beside its own users.
func WithTokens(t *testing.T, broker string) Keyed {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	livetest.Must(t, err)
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	livetest.Must(t, err)
	// A recipe of its own, since the server sees only the files in its directory.
	usual, err := provision.Lookup(broker)
	livetest.Must(t, err)
	r := *usual
	r.Broker = broker + "-tokens"
	r.Configure = func(ctx context.Context, n *provision.Node) error {
		const file, conf = "key.pem", "rabbitmq.conf"
		if err := usual.Configure(ctx, n); err != nil {
			return err
		}
		text, err := n.Read(conf, 1<<20)
		text = fmt.Appendf(text, "auth_oauth2.signing_keys.%s = %s\n", keyName, filepath.Join(n.Dir, file))
		return errors.Join(err, n.Write(conf, text), n.Write(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
	}
	provision.Register(r)
	_, target := livetest.Start(t, provision.Options{Broker: r.Broker, Server: map[string]any{
		rabbitserver.EnabledPlugins: rabbitserver.OAuth,
		"auth_backends.1":           "rabbit_auth_backend_oauth2", "auth_backends.2": "internal",
		"auth_oauth2.resource_server_id": resource, "auth_oauth2.default_key": keyName,
	}})
	return Keyed{target, key}
}

// Token returns a token that is valid for lives.
func (k Keyed) Token(t *testing.T, lives time.Duration) string {
	return oauthtest.Signed(t, k.key, keyName, map[string]any{
		"sub": oauthtest.Client, "client_id": oauthtest.Client, "aud": []string{resource}, "iat": time.Now().Unix() - 60, "exp": time.Now().Add(lives).Unix(),
		"scope": []string{resource + ".configure:*/*", resource + ".write:*/*", resource + ".read:*/*"},
	})
}
