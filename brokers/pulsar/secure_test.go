package pulsar

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

var tokenKey = []byte("thirty-two bytes make a good key")

// guardedServer is a server with everything that can keep a client out.
func guardedServer(t *testing.T) driver.Target {
	in, target := livetest.Start(t, livetest.Guarded(provision.Options{
		Broker: "pulsar", Server: small(map[string]any{"tlsEnabledWithKeyStore": true, "tokenSecretKey": "data:;base64," + base64.StdEncoding.EncodeToString(tokenKey)}),
	}))
	t.Run("a token lets in, a forged one doesn't", func(t *testing.T) {
		to := target
		to.User = tokenUser
		for key, want := range map[string]bool{string(tokenKey): true, "some other key of thirty-two byte": false} {
			to.Password = token(in.Login().User, []byte(key))
			d, err := open(t.Context(), livetest.Config(t, "pulsar", to, atLeast, nil, nil))
			if err == nil {
				_ = d.Close()
			}
			if (err == nil) != want {
				t.Errorf("signed with %q: %v", key, err)
			}
		}
	})
	t.Run("fsync is refused where the journal isn't flushed", func(t *testing.T) {
		requireRefusal(t, target, livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksQuorum, driver.Ordered), "persistence: fsync")
	})
	return target
}

// token is what Pulsar's own tools make: a JSON Web Token that names a role, signed with HMAC and SHA-256.
func token(role string, key []byte) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"`+role+`"}`))
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, text)
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
