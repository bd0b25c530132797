package driver

import (
	"context"
	"errors"
	"testing"
)

func TestALoginThatADriverLacksIsRefusedByName(t *testing.T) {
	k := Kind{
		Name: "login-test", Logins: []Login{ByToken, ByOAuth}, Supports: func(Guarantee) error { return nil },
		Open: func(context.Context, Config) (Driver, error) { return nil, errors.New("opened") },
	}
	const want = "login: nkey is not supported: the driver of login-test logs in by: user and password, token, oauth"
	for login, says := range map[Login]string{ByPassword: "", ByToken: "", ByOAuth: "", ByNkey: want} {
		c := Config{Target: Target{Login: login}}
		for _, err := range []error{k.Refusal(c, Shape{}), k.opens(c)} { // what check asks, and what opening asks
			if err == nil && says != "" || err != nil && err.Error() != says {
				t.Errorf("%q: %v, want %q", login, err, says)
			}
		}
	}
}

func TestARefusedLoginSaysWhatWasShown(t *testing.T) {
	for login, want := range map[Login]string{
		ByPassword: `b at h:1 refused the credentials of user "eve"`, ByToken: "b at h:1 refused the token", ByNkey: "b at h:1 refused the nkey",
		ByCredentials: "b at h:1 refused the credentials file", ByCertificate: "b at h:1 refused the client certificate",
		ByOAuth: `b at h:1 refused the token of client "eve"`, ByAWS: `b at h:1 refused the access key "eve"`,
	} {
		if got := RefusedLogin("b", "h:1", Target{Login: login, User: "eve", Password: "secret"}, nil).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := RefusedLogin("b", "h:1", Target{Login: ByToken}, nil).Error(); got != "b at h:1 refused the token" {
		t.Errorf("%q; a token has no user", got)
	}
}
