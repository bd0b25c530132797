package lab

import (
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/study"
)

func TestASecretThatCrossesTheNetworkUnencryptedIsSaid(t *testing.T) {
	addresses := []string{"localhost:1", "127.0.0.2:1", "[::1]:1", "bench-1:9092", "10.0.0.7:9092"}
	each := func(what string) []string {
		return []string{"the " + what + " crosses the network to bench-1 unencrypted: --tls is off", "the " + what + " crosses the network to 10.0.0.7 unencrypted: --tls is off"}
	}
	oauth := func(url, tls string) study.Spec {
		return study.Spec{Attach: addresses, Login: study.LoginOAuth, User: "eve", OAuth: study.OAuth{URL: url}, TLS: tls}
	}
	for name, c := range map[string]struct {
		spec study.Spec
		want []string
	}{
		"a password":             {study.Spec{Attach: addresses, User: "eve", TLS: study.TLSOff}, each("password of eve")},
		"encrypted":              {study.Spec{Attach: addresses, User: "eve", TLS: study.TLSOn}, nil},
		"no password":            {study.Spec{Attach: addresses, TLS: study.TLSOff}, nil},
		"a broker of a run":      {study.Spec{TLS: study.TLSOff}, nil},
		"a token":                {study.Spec{Attach: addresses, Login: study.LoginToken, TLS: study.TLSOff}, each("token")},
		"a signature":            {study.Spec{Attach: addresses, Login: study.LoginNkey, TLS: study.TLSOff}, nil},
		"an endpoint's token":    {oauth("https://idp/token", study.TLSOff), each("token")},
		"an endpoint's password": {oauth("http://idp:80/token", study.TLSOn), []string{"the password of eve crosses the network to idp unencrypted: oauth.url begins with http:"}},
		"another address": {
			study.Spec{Attach: addresses, Login: study.LoginToken, TLS: study.TLSOn, Client: map[string]any{"sendTimeout": "5s", "webServiceUrl": "http://bench-1:8080"}},
			[]string{"the token crosses the network to bench-1 unencrypted: client.webServiceUrl begins with http:"},
		},
		"an endpoint of this one": {oauth("http://127.0.0.1:80/token", study.TLSOn), nil},
	} {
		if got := Overheard(c.spec); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
