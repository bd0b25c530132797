package rabbitmq

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/oauth/oauthtest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver/rabbittest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestACertificateLetsInWhomItNames(t *testing.T) {
	testkit.Long(t)
	target := rabbittest.Certified(t, "rabbitmq")
	drivertest.LogsIn(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq"), Guarantees: []driver.Guarantee{logged}}, drivertest.Way{Name: "a certificate", Target: target})

	_, unknown := livetest.Start(t, provision.Options{Broker: "rabbitmq", Mutual: true}) // without the plugin
	unknown.Login = driver.ByCertificate
	livetest.OpenSays(t, "rabbitmq", unknown, logged, "it takes no login of this kind")
}

func TestTokensLetIn(t *testing.T) {
	testkit.Long(t)
	server := withTokens(t)
	target := server.target
	byToken := target
	byToken.Login, byToken.Password = driver.ByToken, server.token(t, time.Hour)
	stale := server.token(t, -time.Minute)
	minted := server.token(t, 59*time.Minute)
	endpoint := oauthtest.New(t, time.Hour, func() string { return minted })
	drivertest.LogsIn(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq"), Guarantees: []driver.Guarantee{logged}},
		drivertest.Way{Name: "a token", Target: byToken, Wrong: stale, Says: "refused the token"},
		drivertest.Way{Name: "OAuth", Target: endpoint.Of(target), Wrong: "n0t-the-secret", Says: "it takes no such client", Secret: minted})

	t.Run("a connection outlives its token", func(t *testing.T) {
		const lives = 5 * time.Second
		short := oauthtest.New(t, lives, func() string { return server.token(t, lives) })
		r := livetest.Open(t, "rabbitmq", livetest.Config(t, "rabbitmq", short.Of(target), logged, nil, nil), livetest.Topic(t.Name(), 1, "s"))
		r.ConsumeAll(t)
		livetest.Must(t, r.Send(t, "before"))
		control := r.Driver.(*rabbit).control
		time.Sleep(2 * lives)
		livetest.Must(t, r.Send(t, "after"))
		r.Settled(t)
		if n := len(short.Given()); n < 3 || control.dead() {
			t.Errorf("%d tokens were asked for, want one for each %v; the first connection is dead: %v", n, lives, control.dead())
		}
	})
}
