package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/oauth/oauthtest"
	"github.com/brokermark/brokermark/internal/driver"
)

func TestATokenIsUsedForMostOfItsLife(t *testing.T) {
	made := 0
	for lives, want := range map[time.Duration]int{time.Hour: 1, 0: 3} {
		made = 0
		s := NewSource(oauthtest.New(t, lives, func() string { made++; return fmt.Sprint("token-", made) }).Of(driver.Target{}))
		for range 3 {
			token, err := s.Token(t.Context())
			if err != nil || token != fmt.Sprint("token-", made) {
				t.Errorf("%q, %v", token, err)
			}
		}
		if made != want {
			t.Errorf("%d tokens were asked for that live %v, want %d", made, lives, want)
		}
	}
}

func TestAnEndpointThatGivesNoTokenIsNamedAndNoSecret(t *testing.T) {
	known := oauthtest.New(t, time.Hour, func() string { return "" })
	answers := func(code int, text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", known.URL)
			w.WriteHeader(code)
			_, _ = fmt.Fprint(w, text)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for name, c := range map[string]struct {
		change   func(*driver.Target)
		obstacle driver.Obstacle
		says     string
	}{
		"a wrong secret":      {func(t *driver.Target) { t.Password = "wr0ng-one" }, driver.BadLogin, `refused the credentials of user "bench": it takes no such client: 401 Unauthorized: invalid_client: no bench with xxxxx`},
		"another scope":       {func(t *driver.Target) { t.OAuth.Scope = "all" }, driver.TurnedAway, "400 Bad Request: invalid_scope"},
		"no token":            {func(*driver.Target) {}, driver.TurnedAway, "its answer holds no access_token"},
		"a page":              {func(t *driver.Target) { t.OAuth.URL = answers(200, "<html>") }, driver.TurnedAway, "its answer holds no access_token"},
		"a redirect":          {func(t *driver.Target) { t.OAuth.URL = answers(307, "") }, driver.TurnedAway, "307 Temporary Redirect"},
		"a page in its place": {func(t *driver.Target) { t.OAuth.URL = answers(404, "<html>") }, driver.TurnedAway, "404 Not Found"},
		"nobody":              {func(t *driver.Target) { t.OAuth.URL = "http://127.0.0.1:1/t" }, driver.TurnedAway, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			target := known.Of(driver.Target{})
			c.change(&target)
			_, err := NewSource(target).Token(t.Context())
			met, ok := errors.AsType[*driver.ErrConnect](err)
			if !ok || met.Obstacle != c.obstacle || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), target.OAuth.URL) {
				t.Errorf("%v; want what says %q of %s", err, c.says, target.OAuth.URL)
			}
			if err != nil && strings.Contains(err.Error(), target.Password) {
				t.Errorf("%v gives the secret away", err)
			}
		})
	}
}
