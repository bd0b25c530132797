package natsio

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/brokermark/brokermark/internal/driver"
)

// Logins are the ways in beside user and password.
var Logins = []driver.Login{driver.ByToken, driver.ByNkey, driver.ByCredentials}

// login is t's way in, as the client has it. Its errors repeat nothing of a secret.
func login(t driver.Target) (nats.Option, error) {
	switch t.Login {
	case driver.ByToken:
		return nats.Token(t.Password), nil
	case driver.ByNkey:
		return nkey(t.Password)
	case driver.ByCredentials:
		text := []byte(t.Password)
		_, err := nkeys.ParseDecoratedJWT(text)
		if err == nil {
			_, err = nkeys.ParseDecoratedUserNKey(text)
		}
		if err != nil {
			return nil, unusable("it holds no JWT with the seed of a user: %w", err)
		}
		return nats.UserCredentialBytes(text), nil
	}
	if t.User == "" {
		return nil, nil
	}
	return nats.UserInfo(t.User, t.Password), nil
}

func nkey(seed string) (nats.Option, error) {
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(seed)))
	var public string
	if err == nil {
		public, err = pair.PublicKey()
	}
	if err != nil {
		return nil, unusable("it is no seed: %w", err)
	}
	return nats.Nkey(public, pair.Sign), nil
}

// unusable returns an error of bad input at the setting login.
func unusable(format string, err error) error {
	return &driver.ErrSetting{Path: "login", Err: fmt.Errorf(format, err)}
}
