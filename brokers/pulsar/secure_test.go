package pulsar

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/oauth/oauthtest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

var tokenKey = []byte("thirty-two bytes make a good key")

// guardedServer is a server with everything that can keep a client out.
func guardedServer(t *testing.T) driver.Target {
	in, target := livetest.Start(t, livetest.Guarded(provision.Options{
		Broker: "pulsar", Server: small(map[string]any{"tlsEnabledWithKeyStore": true, "tokenSecretKey": "data:;base64," + base64.StdEncoding.EncodeToString(tokenKey)}),
	}))
	t.Run("tokens let in, forged ones don't", func(t *testing.T) {
		good, forged := token(in.Login().User, tokenKey), token(in.Login().User, []byte("some other key of thirty-two byte"))
		byToken := target
		byToken.Login, byToken.User, byToken.Password = driver.ByToken, "", good
		byOAuth := oauthtest.New(t, time.Hour, func() string { return good }).Of(target)
		byOAuth.Endpoints = maps.Clone(byOAuth.Endpoints)
		maps.Copy(byOAuth.Endpoints, target.Endpoints)
		drivertest.LogsIn(t, drivertest.Suite{Kind: livetest.Kind(t, "pulsar"), Guarantees: []driver.Guarantee{atLeast}},
			drivertest.Way{Name: "a token", Target: byToken, Wrong: forged, Says: "refused the token"},
			drivertest.Way{Name: "OAuth", Target: byOAuth, Wrong: "n0t-the-secret", Says: "it takes no such client", Secret: good})
	})
	t.Run("a tenant, and a namespace of its own", func(t *testing.T) { otherTenant(t, target) })
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

// otherTenant makes a tenant with a namespace that keeps one copy.
func otherTenant(t *testing.T, target driver.Target) {
	target.Server = nil // somebody else's
	ours := newAdmin(target, "")
	defer ours.close()
	put := func(method, path string, body any) {
		t.Helper()
		livetest.Must(t, ours.do(t.Context(), method, path, body, nil))
	}
	var clusters []string
	livetest.Must(t, ours.do(t.Context(), http.MethodGet, "clusters", nil, &clusters))
	put(http.MethodPut, "tenants/bench", map[string]any{"allowedClusters": clusters})
	put(http.MethodPut, "namespaces/bench/kept", map[string]any{"persistence": map[string]any{"bookkeeperEnsemble": 1, "bookkeeperWriteQuorum": 1, "bookkeeperAckQuorum": 1}})
	put(http.MethodPut, "namespaces/bench/unknown", map[string]any{})

	in := func(client map[string]any) drivertest.Suite {
		return drivertest.Suite{Kind: livetest.Kind(t, "pulsar"), Guarantees: []driver.Guarantee{atLeast}, Client: client}
	}
	kept := map[string]any{"tenant": "bench", "namespace": "kept"}
	drivertest.LogsIn(t, in(map[string]any{"tenant": "bench"}), drivertest.Way{Name: "a tenant", Target: target})
	drivertest.LogsIn(t, in(kept), drivertest.Way{Name: "a namespace", Target: target})
	var left []string
	livetest.Must(t, ours.do(t.Context(), http.MethodGet, "namespaces/bench", nil, &left))
	if len(left) < 2 { // the run's own may be there still: LogsIn doesn't clean
		t.Errorf("the namespaces that were there aren't all there: %v", left)
	}
	setUp := func(g driver.Guarantee, client, topic map[string]any) error {
		return livetest.SetupError(t, "pulsar", livetest.Config(t, "pulsar", target, g, client, topic), livetest.Topic("t", 1, "s"))
	}
	exactly := atLeast
	exactly.Delivery = driver.ExactlyOnce
	livetest.Says(t, setUp(atLeast, map[string]any{"tenant": "nobody"}, nil), "client.tenant: nobody is not supported: the broker says: ")
	livetest.Says(t, setUp(atLeast, map[string]any{"tenant": "bench", "namespace": "none"}, nil), "the tenant bench has no such namespace")
	livetest.Says(t, setUp(atLeast, map[string]any{"tenant": "bench", "namespace": "unknown"}, nil), "it has no persistence policy")
	livetest.Says(t, setUp(exactly, kept, nil), "its policy deduplicationEnabled is false; delivery: exactly-once needs true")
	livetest.Says(t, setUp(atLeast, kept, map[string]any{"numBundles": 2}), "topicConfig.numBundles is not supported: it is a policy of a namespace that the run makes")
}
