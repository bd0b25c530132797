package pulsar

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// A server with everything that can keep a client out: each error says which of them it was.
func TestServerWithKeyStoresClientCertificatesAndLogin(t *testing.T) {
	key := []byte("thirty-two bytes make a good key")
	in := start(t, provision.Options{
		Mutual: true, Login: &provision.Login{User: "somebody", Password: "right"},
		Server: small(map[string]any{"tlsEnabledWithKeyStore": true, "tokenSecretKey": "data:;base64," + base64.StdEncoding.EncodeToString(key)}),
	})
	right := target(in)
	for name, c := range map[string]struct {
		change func(*driver.Target)
		says   string // empty: it opens
	}{
		"nobody there":                 {func(t *driver.Target) { t.Addresses = []string{"127.0.0.1:1"} }, "nobody listens there"},
		"no TLS":                       {func(t *driver.Target) { t.TLS = nil }, "it wants TLS"},
		"another authority":            {func(t *driver.Target) { t.TLS = &tls.Config{MinVersion: tls.VersionTLS12} }, "its certificate is not trusted"},
		"no certificate of the client": {func(t *driver.Target) { t.TLS.Certificates = nil }, "it refuses the client's certificate, or that there is none"},
		"the wrong password":           {func(t *driver.Target) { t.Password = "wrong" }, "user or password is wrong"},
		"an unknown user":              {func(t *driver.Target) { t.User = "nobody" }, "user or password is wrong"},
		"no login":                     {func(t *driver.Target) { t.User, t.Password = "", "" }, "user or password is wrong"},
		"a forged token":               {func(t *driver.Target) { t.User, t.Password = "", token("somebody", []byte("another key")) }, "user or password is wrong"},
		"a token":                      {func(t *driver.Target) { t.User, t.Password = "", token("somebody", key) }, ""},
		"user and password":            {func(*driver.Target) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			to := right
			to.TLS = right.TLS.Clone()
			c.change(&to)
			requireOpen(t, to, c.says)
		})
	}
	t.Run("a TLS client at a port without TLS", func(t *testing.T) {
		to := right
		to.Addresses = []string{strings.TrimPrefix(in.Endpoints()[adminRole], "http://")}
		requireOpen(t, to, "it doesn't speak TLS")
	})
	t.Run("fsync is refused where the journal isn't flushed", func(t *testing.T) {
		requireRefusal(t, right, guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksQuorum, driver.Ordered), "persistence: fsync")
	})
	drivertest.Run(t, drivertest.Suite{
		Kind: kind(t), Target: func(*testing.T) driver.Target { return right }, Guarantees: []driver.Guarantee{atLeast}, Bulk: 200,
	})
}

// token is what Pulsar's own tools make: a JSON Web Token that names a role, signed with HMAC and SHA-256.
func token(role string, key []byte) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"`+role+`"}`))
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, text)
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func requireOpen(t *testing.T, to driver.Target, says string) {
	t.Helper()
	d, err := open(t.Context(), driver.Config{Target: to, Client: decode(t, driver.ClientScope, nil), Guarantee: atLeast})
	if err == nil {
		_ = d.Close()
	}
	if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
		t.Errorf("open: %v; want %q", err, says)
	}
}
