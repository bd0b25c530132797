// Package oauthtest has an endpoint that gives tokens, for the tests of drivers, and makes such tokens.
package oauthtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// The client that the endpoint knows.
const (
	Client = "bench"
	Secret = "s3cret-of-the-client"
	Scope  = "produce consume"
)

// Endpoint gives tokens to the client that it knows.
type Endpoint struct {
	URL string

	mu    sync.Mutex
	given []string
}

// New starts an endpoint that ends with the test; mint makes the tokens, which live so long.
func New(t *testing.T, lives time.Duration, mint func() string) *Endpoint {
	t.Helper()
	e := &Endpoint{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		id, errID := url.QueryUnescape(id)
		secret, errSecret := url.QueryUnescape(secret)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case errID != nil || errSecret != nil || id != Client || secret != Secret:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":"invalid_client","error_description":"no %s with %s"}`, id, secret)
		case r.Method != http.MethodPost || r.FormValue("grant_type") != "client_credentials":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"error":"unsupported_grant_type"}`)
		case r.FormValue("scope") != Scope:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"error":"invalid_scope"}`)
		default:
			token := mint()
			e.mu.Lock()
			e.given = append(e.given, token)
			e.mu.Unlock()
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(lives / time.Second)})
		}
	}))
	t.Cleanup(s.Close)
	e.URL = s.URL + "/token"
	return e
}

// Given returns the tokens handed out so far.
func (e *Endpoint) Given() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.given...)
}

// Of returns target with the endpoint's client.
func (e *Endpoint) Of(target driver.Target) driver.Target {
	target.Login, target.User, target.Password = driver.ByOAuth, Client, Secret
	target.OAuth = driver.OAuth{URL: e.URL, Scope: Scope}
	target.Endpoints = map[string]string{"oauth": e.URL}
	return target
}

// Unsigned returns a JSON Web Token without a signature.
func Unsigned(claims map[string]any) string {
	return part(map[string]string{"alg": "none"}) + "." + part(claims) + "."
}

// Signed returns a JSON Web Token that key has signed; the other side finds the key's public half by name.
func Signed(t *testing.T, key *rsa.PrivateKey, name string, claims map[string]any) string {
	t.Helper()
	text := part(map[string]string{"alg": "RS256", "typ": "JWT", "kid": name}) + "." + part(claims)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func part(v any) string {
	text, _ := json.Marshal(v) // strings and numbers
	return base64.RawURLEncoding.EncodeToString(text)
}
