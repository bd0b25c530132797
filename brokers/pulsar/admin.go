package pulsar

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/oauth"
	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	adminRole  = "admin"  // endpoint: a broker's admin interface
	bookieRole = "bookie" // endpoint: a bookie's admin interface
	// usualLargest is Pulsar's default of maxMessageSize.
	usualLargest = 5 << 20
	askPatience  = 10 * time.Second
)

// admin is a client of the brokers' admin interface; any broker answers for all.
type admin struct {
	urls    []string
	bookies []string
	http    *http.Client
	target  driver.Target // whose login it uses
	tokens  *oauth.Source
}

func newAdmin(t driver.Target, given string) *admin {
	a := &admin{target: t, tokens: oauth.NewSource(t), http: &http.Client{Transport: &http.Transport{TLSClientConfig: t.TLS}}}
	for _, role := range slices.Sorted(maps.Keys(t.Endpoints)) {
		switch where := t.Endpoints[role]; {
		case strings.HasPrefix(role, adminRole):
			a.urls = append(a.urls, where)
		case strings.HasPrefix(role, bookieRole):
			a.bookies = append(a.bookies, where)
		}
	}
	if given != "" {
		a.urls = strings.Split(strings.TrimRight(given, "/"), ",")
	}
	if len(a.urls) > 0 {
		return a
	}
	for _, address := range t.Addresses {
		host, _, _ := net.SplitHostPort(address)
		if t.TLS == nil {
			a.urls = append(a.urls, "http://"+net.JoinHostPort(host, "8080"))
		} else {
			a.urls = append(a.urls, "https://"+net.JoinHostPort(host, "8443"))
		}
	}
	return a
}

func (a *admin) close() { a.http.CloseIdleConnections() }

// answerError is an unexpected answer.
type answerError struct {
	code   int
	reason string
}

func (e *answerError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.reason) }

func status(err error) int {
	var answer *answerError
	if errors.As(err, &answer) {
		return answer.code
	}
	return 0
}

// denied reports whether the user lacks the right to ask.
func denied(err error) bool {
	code := status(err)
	return code == http.StatusUnauthorized || code == http.StatusForbidden
}

// do asks one broker after the other until one answers: a node may be down. body and into may be nil.
func (a *admin) do(ctx context.Context, method, path string, body, into any) error {
	var errs []error
	for _, base := range a.urls {
		err := a.ask(ctx, method, base+"/admin/v2/"+path, body, into)
		if err == nil || status(err) != 0 && status(err) != http.StatusServiceUnavailable {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (a *admin) ask(ctx context.Context, method, where string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, where, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	switch user, password, err := a.tokens.Plain(ctx); {
	case err != nil:
		return err
	case a.target.Login != driver.ByPassword:
		request.Header.Set("Authorization", "Bearer "+password)
	case user != "":
		request.SetBasicAuth(user, password)
	}
	response, err := a.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := bounded.All(response.Body, maxAnswer)
	switch {
	case err != nil:
		return err
	case response.StatusCode >= 300:
		var e struct{ Reason string }
		_ = json.Unmarshal(answer, &e)
		return &answerError{code: response.StatusCode, reason: cmp.Or(e.Reason, http.StatusText(response.StatusCode))}
	case into == nil:
		return nil
	}
	if text, ok := into.(*string); ok { // the only answer that isn't JSON
		*text = strings.TrimSpace(string(answer))
		return nil
	}
	return json.Unmarshal(answer, into)
}

// maxAnswer bounds an answer of an admin interface, in bytes.
const maxAnswer = 64 << 20

func (a *admin) maxMessageSize(ctx context.Context) (int, error) {
	var clusters []string // every administrator may see them
	if err := a.do(ctx, http.MethodGet, "clusters", nil, &clusters); err != nil {
		return 0, err
	}
	var config struct {
		MaxMessageSize string `json:"maxMessageSize"`
	}
	_ = a.do(ctx, http.MethodGet, "brokers/configuration/runtime", nil, &config)
	if n, err := strconv.Atoi(config.MaxMessageSize); err == nil {
		return n, nil
	}
	return usualLargest, nil
}

// liveBookies returns the number of running bookies (storage nodes).
func (a *admin) liveBookies(ctx context.Context) (int, error) {
	var all struct{ Bookies []json.RawMessage }
	err := a.do(ctx, http.MethodGet, "bookies/all", nil, &all)
	return len(all.Bookies), err
}

// syncsJournals asks every bookie whether it flushes its journal before it answers: neither the client protocol nor the brokers
// report that.
func (a *admin) syncsJournals(ctx context.Context) error {
	const setting = "persistence: fsync"
	const how = "journalSyncData=true on every bookie (server: {journalSyncData: true})"
	if len(a.bookies) == 0 {
		return driver.Unsupported(setting, "it needs %s, and there is no address of a bookie's administration to check that", how)
	}
	for _, bookie := range a.bookies {
		config := map[string]string{} // a setting that was never set is missing, and true
		err := a.ask(ctx, http.MethodGet, bookie+"/api/v1/config/server_config", nil, &config)
		switch {
		case err != nil:
			return driver.Unsupported(setting, "it needs %s, and that could not be checked: %v", how, err)
		case cmp.Or(config[journalSync], "true") != "true":
			return driver.Unsupported(setting, "it needs %s; %s answers before its journal is flushed", how, bookie)
		case cmp.Or(config["journalWriteData"], "true") != "true":
			return driver.Unsupported(setting, "it needs journalWriteData=true; %s writes no journal", bookie)
		}
	}
	return nil
}

// availablePermits is the number of messages that the broker may still send to a consumer of one topic or partition.
func (a *admin) availablePermits(ctx context.Context, topic, subscription, consumer string) (int, error) {
	var stats struct {
		Subscriptions map[string]struct {
			Consumers []struct {
				ConsumerName     string
				AvailablePermits int
			}
		}
	}
	if err := a.do(ctx, http.MethodGet, topic+"/stats", nil, &stats); err != nil {
		return 0, err
	}
	for _, c := range stats.Subscriptions[subscription].Consumers {
		if c.ConsumerName == consumer {
			return c.AvailablePermits, nil
		}
	}
	return 0, nil
}

// traffic are the broker's statistics of a topic, its partitions together, and of one of its subscriptions.
type traffic struct {
	MsgInCounter  int64
	Subscriptions map[string]struct {
		MsgBacklog      int64
		MsgOutCounter   int64
		UnackedMessages int64
	}
}

func (a *admin) traffic(ctx context.Context, topic string, partitioned bool) (f traffic, err error) {
	what := "/stats"
	if partitioned {
		what = "/partitioned-stats"
	}
	err = a.do(ctx, http.MethodGet, topic+what, nil, &f)
	return f, err
}

// pathOf escapes a name for a path of the admin interface.
func pathOf(parts ...string) string {
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
