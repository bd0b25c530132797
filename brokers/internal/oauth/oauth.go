// Package oauth gets tokens of OAuth 2 for clients that log in with their own id and secret (RFC 6749, 4.4). It knows no broker.
package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/secret"
)

const (
	patience  = 3 * time.Second // for an answer: less than drivers give a connection
	maxAnswer = 1 << 20
	// renewed is the part of a token's life after which the next one is fetched: the server's clock may differ.
	renewed = 0.8
)

// Source gives the token of a target that logs in by OAuth. A token is used until most of its life is over; an endpoint that doesn't say
// how long it lives is asked each time.
type Source struct {
	target driver.Target
	mu     sync.Mutex
	token  string
	until  time.Time
}

// NewSource sends no request yet.
func NewSource(t driver.Target) *Source { return &Source{target: t} }

// Name is the endpoint's name in sentences.
const Name = "the OAuth endpoint"

// No connection is kept: its goroutines would outlive the driver. A redirect is an error: the secret goes to the endpoint alone.
var client = http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Token returns a valid token. Its errors repeat neither secret nor token.
func (s *Source) Token(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Before(s.until) {
		return s.token, nil
	}
	token, lives, err := s.ask(ctx)
	if err != nil {
		obstacle := driver.TurnedAway
		if errors.Is(err, errRefused) {
			obstacle = driver.BadLogin
		}
		return "", &driver.ErrConnect{Broker: Name, Address: s.target.OAuth.URL, Obstacle: obstacle, User: s.target.User, Err: err}
	}
	s.token, s.until = token, time.Now().Add(time.Duration(renewed*float64(lives)))
	return token, nil
}

// Plain returns user and password for a broker that takes a token as the password of any user.
func (s *Source) Plain(ctx context.Context) (user, password string, err error) {
	user, password = s.target.User, s.target.Password
	switch s.target.Login {
	case driver.ByToken:
		user = string(driver.ByToken)
	case driver.ByOAuth:
		password, err = s.Token(ctx)
	}
	return user, password, err
}

// Lives returns how much longer the last token is used.
func (s *Source) Lives() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Until(s.until)
}

var errRefused = errors.New("it takes no such client")

// said returns the endpoint's own words of an answer without a token.
func (s *Source) said(r *http.Response, a answer) string {
	text := strings.TrimSuffix(r.Status+": "+strings.TrimSuffix(a.Fault+": "+a.Why, ": "), ": ")
	return strings.ReplaceAll(text, s.target.Password, secret.Hidden)
}

type answer struct {
	Token     string  `json:"access_token"`
	ExpiresIn float64 `json:"expires_in"` // seconds
	Fault     string  `json:"error"`
	Why       string  `json:"error_description"`
}

func (s *Source) ask(ctx context.Context) (token string, lives time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	form := url.Values{"grant_type": {"client_credentials"}}
	for name, value := range map[string]string{"scope": s.target.OAuth.Scope, "audience": s.target.OAuth.Audience} {
		if value != "" {
			form.Set(name, value)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.target.OAuth.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(s.target.User), url.QueryEscape(s.target.Password)) // RFC 6749, 2.3.1
	response, err := client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok { // which repeats the URL
			err = failed.Err
		}
		return "", 0, err
	}
	defer response.Body.Close()
	text, err := bounded.All(response.Body, maxAnswer)
	if err != nil {
		return "", 0, err
	}
	var a answer
	malformed := json.Unmarshal(text, &a)
	switch {
	case response.StatusCode == http.StatusUnauthorized || a.Fault == "invalid_client":
		return "", 0, fmt.Errorf("%w: %s", errRefused, s.said(response, a))
	case response.StatusCode != http.StatusOK:
		return "", 0, errors.New(s.said(response, a))
	case malformed != nil || a.Token == "":
		return "", 0, errors.New("its answer holds no access_token")
	}
	return a.Token, time.Duration(a.ExpiresIn * float64(time.Second)), nil
}
