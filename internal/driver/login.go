package driver

import (
	"fmt"
	"slices"
	"strings"
)

// Login is what a client shows to be let in, in the same words for every broker.
type Login string

// The ways in. Target.User and Target.Password hold what each of them needs.
const (
	ByPassword    Login = ""            // user and password, or nothing where there is no user
	ByToken       Login = "token"       // the password is a token, of no user
	ByNkey        Login = "nkey"        // the password is the seed of a key that signs what the server asks to have signed
	ByCredentials Login = "credentials" // the password is the text of a NATS credentials file: a JWT and such a seed
	ByCertificate Login = "certificate" // the client certificate of TLS names the user
	ByOAuth       Login = "oauth"       // OAuth 2: an endpoint gives a token to a client; user and password are its id and secret
	ByAWS         Login = "aws"         // user and password are an AWS access key's id and secret; a second line is a session's token
)

// OAuth is where and for what a client gets its token (RFC 6749, client credentials).
type OAuth struct {
	URL      string `json:",omitempty"`
	Scope    string `json:",omitempty"`
	Audience string `json:",omitempty"`
}

// letsIn refuses a login that the kind's clients don't have.
func (k Kind) letsIn(l Login) error {
	if l == ByPassword || slices.Contains(k.Logins, l) {
		return nil
	}
	return Unsupported(fmt.Sprintf("login: %s", l), "the driver of %s logs in by: %s", k.Name, k.WaysIn())
}

// WaysIn lists the kind's logins in words.
func (k Kind) WaysIn() string {
	ways := []string{"user and password"}
	for _, way := range k.Logins {
		ways = append(ways, string(way))
	}
	return strings.Join(ways, ", ")
}

// shown is in words what the client showed.
func (l Login) shown(user string) string {
	switch l {
	case ByToken:
		return "the token"
	case ByNkey:
		return "the nkey"
	case ByCredentials:
		return "the credentials file"
	case ByCertificate:
		return "the client certificate"
	case ByOAuth:
		return fmt.Sprintf("the token of client %q", user)
	case ByAWS:
		return fmt.Sprintf("the access key %q", user)
	default:
		return fmt.Sprintf("the credentials of user %q", user)
	}
}
