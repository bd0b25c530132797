package natstest

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// Ways starts broker three times, each with another way to log in.
func Ways(t *testing.T, broker string) []drivertest.Way {
	t.Helper()
	const token = "t0ken-never-written"
	user, stranger := pair(t, nkeys.CreateUser), pair(t, nkeys.CreateUser)
	operator, account, root := pair(t, nkeys.CreateOperator), pair(t, nkeys.CreateAccount), pair(t, nkeys.CreateAccount)

	o, a, s := jwt.NewOperatorClaims(operator.public), jwt.NewAccountClaims(account.public), jwt.NewAccountClaims(root.public)
	o.SystemAccount = root.public
	a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: 1 << 30, DiskStorage: 1 << 30, Streams: -1, Consumer: -1}
	claims := func(c jwt.Claims) string {
		text, err := c.Encode(operator.KeyPair)
		livetest.Must(t, err)
		return text
	}
	u := jwt.NewUserClaims(user.public)
	u.Expires = time.Now().Add(time.Hour).Unix()
	signed, err := u.Encode(account.KeyPair)
	livetest.Must(t, err)
	credentials, err := jwt.FormatUserConfig(signed, []byte(user.seed)) // the file that nsc writes
	livetest.Must(t, err)
	at := func(server map[string]any, login driver.Login, secret string) driver.Target {
		_, target := livetest.Start(t, provision.Options{Broker: broker, Server: server})
		target.Login, target.Password = login, secret
		return target
	}
	return []drivertest.Way{
		{
			Name:   "a token",
			Target: at(map[string]any{"authorization.token": token}, driver.ByToken, token),
			Wrong:  "an0ther-never-written", Says: "refused the token: nats: Authorization Violation",
		},
		{
			Name:   "an nkey",
			Target: at(map[string]any{"authorization.users": []any{map[string]any{"nkey": user.public}}}, driver.ByNkey, user.seed),
			Wrong:  stranger.seed, Says: "refused the nkey: nats: Authorization Violation",
		},
		{
			Name: "credentials",
			Target: at(map[string]any{
				"operator": claims(o), "system_account": root.public, "resolver": "MEMORY",
				"resolver_preload": map[string]any{account.public: claims(a), root.public: claims(s)},
			}, driver.ByCredentials, string(credentials)),
			Wrong: strings.ReplaceAll(string(credentials), user.seed, stranger.seed), Says: "refused the credentials file: nats: Authorization Violation", Secret: user.seed,
		},
	}
}

type key struct {
	nkeys.KeyPair
	public, seed string
}

func pair(t *testing.T, create func() (nkeys.KeyPair, error)) key {
	t.Helper()
	made, err := create()
	livetest.Must(t, err)
	public, err := made.PublicKey()
	livetest.Must(t, err)
	seed, err := made.Seed()
	livetest.Must(t, err)
	return key{made, public, string(seed)}
}
