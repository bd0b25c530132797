package rabbitmq

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

// keyed are a server's tokens.
type keyed struct {
	target driver.Target
	key    *rsa.PrivateKey
}

const (
	keyName  = "bench-key"
	resource = "rabbitmq"
)

// withTokens starts a broker so that it takes tokens that a key has signed, beside its own users.
func withTokens(t *testing.T) keyed {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	livetest.Must(t, err)
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	livetest.Must(t, err)
	// A recipe of its own, since the server sees only the files in its directory.
	usual, err := provision.Lookup("rabbitmq")
	livetest.Must(t, err)
	r := *usual
	r.Broker = "rabbitmq-tokens"
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
	return keyed{target, key}
}

// token returns a token that is valid for lives.
func (k keyed) token(t *testing.T, lives time.Duration) string {
	return oauthtest.Signed(t, k.key, keyName, map[string]any{
		"sub": oauthtest.Client, "client_id": oauthtest.Client, "aud": []string{resource}, "iat": time.Now().Unix() - 60, "exp": time.Now().Add(lives).Unix(),
		"scope": []string{resource + ".configure:*/*", resource + ".write:*/*", resource + ".read:*/*"},
	})
}
