package natsio

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/brokermark/brokermark/internal/driver"
)

// Logins are the ways to log in besides user and password.
var Logins = []driver.Login{driver.ByToken, driver.ByNkey, driver.ByCredentials}

// login returns the client's option for t's login. Its errors repeat no secret.
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
			return nil, unusable("the password holds no JWT with the seed of a user: %w", err)
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
		return nil, unusable("the password is no seed: %w", err)
	}
	return nats.Nkey(public, pair.Sign), nil
}

// unusable returns an error of bad input at the setting login.
func unusable(format string, err error) error {
	return &driver.ErrSetting{Path: "login", Err: fmt.Errorf(format, err)}
}
