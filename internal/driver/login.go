package driver

import (
	"fmt"
	"slices"
	"strings"
)

// Login is the kind of credentials that a client presents, in the same words for every broker.
type Login string

// The kinds of credentials. Target.User and Target.Password hold what each of them needs.
const (
	ByPassword    Login = ""            // user and password, or nothing if there is no user
	ByToken       Login = "token"       // the password is a token without a user
	ByNkey        Login = "nkey"        // the password is the seed of a key that signs the server's challenge
	ByCredentials Login = "credentials" // the password is the text of a NATS credentials file: a JWT and such a seed
	ByCertificate Login = "certificate" // the client certificate of TLS names the user
	ByOAuth       Login = "oauth"       // OAuth 2: an endpoint gives a token to a client; user and password are its id and secret
	ByAWS         Login = "aws"         // user and password are the ID and secret of an AWS access key; a second line of the password is a session token
)

// OAuth says where, and for which scope, a client gets its token (RFC 6749, client credentials).
type OAuth struct {
	URL      string `json:",omitempty"`
	Scope    string `json:",omitempty"`
	Audience string `json:",omitempty"`
}

// letsIn refuses a login that the kind's clients don't support.
func (k Kind) letsIn(l Login) error {
	if l == ByPassword || slices.Contains(k.Logins, l) {
		return nil
	}
	return Unsupported(fmt.Sprintf("login: %s", l), "the driver of %s logs in by: %s", k.Name, k.WaysIn())
}

// WaysIn lists the kind's logins as a clause.
func (k Kind) WaysIn() string {
	ways := []string{"user and password"}
	for _, way := range k.Logins {
		ways = append(ways, string(way))
	}
	return strings.Join(ways, ", ")
}

// shown describes the credentials that the client presented.
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
