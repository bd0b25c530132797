package study

import (
	"net/url"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/secret"
)

// Credentials that a client may use instead of user and password.
const (
	LoginToken       = "token"
	LoginNkey        = "nkey"
	LoginCredentials = "credentials"
	LoginCertificate = "certificate"
	LoginOAuth       = "oauth"
	LoginAWS         = "aws"
)

// Logins are the values of login.
var Logins = []string{LoginToken, LoginNkey, LoginCredentials, LoginCertificate, LoginOAuth, LoginAWS}

// login checks the clients' credentials. They are for attached brokers only: a broker that is started here has certificates of its own.
func (v *validator) login() {
	s := v.spec
	given := false
	for _, f := range []struct{ path, text string }{
		{"login", s.Login},
		{"user", s.User},
		{"passwordEnv", s.PasswordEnv},
		{"passwordFile", s.PasswordFile},
		{"oauth.url", s.OAuth.URL},
		{"oauth.scope", s.OAuth.Scope},
		{"oauth.audience", s.OAuth.Audience},
		{"caFile", s.CAFile},
		{"certFile", s.CertFile},
		{"keyFile", s.KeyFile},
	} {
		if f.text != "" && len(s.Attach) == 0 {
			v.fail(f.path, "only with attach; a broker that is started here needs none")
			given = true
		}
		if f.text != "" && strings.HasPrefix(f.path, "oauth.") && s.Login != LoginOAuth {
			v.fail(f.path, "not used by %s; allowed with login: oauth", either(s.Login == "", "user and password", "login: "+s.Login))
			given = true
		}
	}
	if given {
		return
	}
	v.password()
	v.endpoint()
	switch {
	case s.CAFile != "" && s.TLS == TLSOff:
		v.fail("caFile", "tls is off; allowed with tls: on or mutual")
	case (s.CertFile != "" || s.KeyFile != "") && s.TLS != TLSMutual:
		v.fail(either(s.CertFile != "", "certFile", "keyFile"), "tls is %s; allowed with tls: mutual", s.TLS)
	case len(s.Attach) > 0 && s.TLS == TLSMutual && (s.CertFile == "" || s.KeyFile == ""):
		v.fail(either(s.CertFile == "", "certFile", "keyFile"), "missing; an attached broker with tls: mutual needs certFile and keyFile")
	case s.Login == LoginCertificate && s.TLS != TLSMutual:
		v.fail("login", "certificate shows the client certificate of TLS, and tls is %s; allowed with tls: mutual", s.TLS)
	}
}

// password checks user and password; some logins use only one of them.
func (v *validator) password() {
	s := v.spec
	source := either(s.PasswordEnv != "", "passwordEnv", "passwordFile")
	userless := slices.Contains([]string{LoginToken, LoginNkey, LoginCredentials, LoginCertificate}, s.Login)
	switch {
	case s.PasswordEnv != "" && s.PasswordFile != "":
		v.fail("passwordFile", "passwordEnv is given, too; allowed: one of them")
	case userless && s.User != "":
		v.fail("user", "login: %s has no user", s.Login)
	case s.Login == LoginCertificate && s.PasswordEnv+s.PasswordFile != "":
		v.fail(source, "login: certificate has no password")
	case userless && s.Login != LoginCertificate && s.PasswordEnv+s.PasswordFile == "":
		v.fail("login", "no %s; passwordEnv names an environment variable that holds it, passwordFile a file", s.Login)
	case (s.Login == LoginOAuth || s.Login == LoginAWS) && s.User == "":
		v.fail("login", "no %s; user says it", either(s.Login == LoginOAuth, "client id", "access key id"))
	case !userless && s.PasswordEnv+s.PasswordFile != "" && s.User == "":
		v.fail(source, "no user; name one with user")
	case s.User != "" && s.PasswordEnv+s.PasswordFile == "":
		v.fail("user", "no password; passwordEnv names an environment variable that holds it, passwordFile a file")
	case strings.ContainsAny(s.PasswordEnv, "= \t"):
		v.fail("passwordEnv", "%q is not the name of an environment variable", s.PasswordEnv)
	}
}

// endpoint checks the address for tokens.
func (v *validator) endpoint() {
	s := v.spec
	if s.Login != LoginOAuth {
		return
	}
	u, err := url.Parse(s.OAuth.URL)
	switch {
	case s.OAuth.URL == "":
		v.fail("login", "no endpoint that gives tokens; oauth.url says it")
	case secret.In(s.OAuth.URL) || err == nil && u.User != nil: // which the error doesn't repeat
		v.fail("oauth.url", "a URL holds no user, password or token; %s", wayIn)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "":
		v.fail("oauth.url", "%q is not the URL of an endpoint; allowed: https://host/path", s.OAuth.URL)
	}
}

// either is a if yes holds, else b.
func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
