package kafka

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/oauth/oauthtest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// token is what Kafka's validator of unsigned tokens takes, until it expires.
func token(until time.Time) string {
	return oauthtest.Unsigned(map[string]any{"sub": oauthtest.Client, "iat": time.Now().Unix() - 60, "exp": until.Unix(), "scope": oauthtest.Scope})
}

func TestTokensLetIn(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{
		Broker: "kafka", Login: &provision.Login{User: "node", Password: "sesame-0pen"}, // of the broker itself
		Server: map[string]any{
			"listener.name.client.sasl.enabled.mechanisms":      "PLAIN,OAUTHBEARER",
			"listener.name.client.oauthbearer.sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
			"connections.max.reauth.ms":                         2000, // tokens are shown again while the client works
		},
	})
	good, stale := token(time.Now().Add(time.Hour)), token(time.Now().Add(-30*time.Second))
	byToken := target
	byToken.Login, byToken.User, byToken.Password = driver.ByToken, "", good
	minted := token(time.Now().Add(59 * time.Minute))
	endpoint := oauthtest.New(t, time.Hour, func() string { return minted })
	drivertest.LogsIn(t, drivertest.Suite{Kind: livetest.Kind(t, "kafka"), Guarantees: []driver.Guarantee{atLeast}},
		drivertest.Way{Name: "a token", Target: byToken, Wrong: stale, Says: "refused the token"},
		drivertest.Way{Name: "OAuth", Target: endpoint.Of(target), Wrong: "n0t-the-secret", Says: "it takes no such client", Secret: minted})
	forged := oauthtest.New(t, time.Hour, func() string { return stale }).Of(target)
	livetest.OpenSays(t, "kafka", forged, atLeast, `refused the token of client "bench"`)
}

// There is no server of Amazon's here: what is signed is looked at instead.
func TestAnAccessKeySignsAndIsNotShown(t *testing.T) {
	m := login(driver.Target{Login: driver.ByAWS, User: "AKIDEXAMPLE", Password: "secret/key\nsession-token\n"}, "")
	_, first, err := m.Authenticate(t.Context(), "b-1.bench.abc.c2.kafka.eu-west-1.amazonaws.com:9098")
	livetest.Must(t, err)
	var said map[string]string
	livetest.Must(t, json.Unmarshal(first, &said))
	if m.Name() != "AWS_MSK_IAM" || said["x-amz-security-token"] != "session-token" || len(said["x-amz-signature"]) != 64 ||
		!strings.HasPrefix(said["x-amz-credential"], "AKIDEXAMPLE/") || !strings.HasSuffix(said["x-amz-credential"], "/eu-west-1/kafka-cluster/aws4_request") {
		t.Errorf("%s: %v", m.Name(), said)
	}
	if strings.Contains(string(first), "secret") {
		t.Errorf("the secret key is shown: %s", first)
	}
}

func TestAMechanismOfPasswordsIsRefusedForOtherLogins(t *testing.T) {
	c := livetest.Config(t, "kafka", driver.Target{Login: driver.ByOAuth, User: "c"}, atLeast, map[string]any{"sasl.mechanism": "SCRAM-SHA-256"}, nil)
	livetest.Refused(t, fits(c, driver.Shape{}), "client.sasl.mechanism: SCRAM-SHA-256")
	livetest.Says(t, fits(c, driver.Shape{}), "with login: oauth it is OAUTHBEARER")
}
