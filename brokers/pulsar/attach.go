package pulsar

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// attaching implements driver.Kind.Attaching: the admin interface has another port than the clients.
func attaching(_ map[string]any, t driver.Target) []string {
	return []string{"client.webServiceUrl=" + strings.Join(newAdmin(t, "").urls, ",")}
}

const openPatience = 5 * time.Second

// attach checks whether the broker can be used as the target says, and returns the reason if not. The client library only reports
// a connection error, so the ports and the admin interface are asked first.
func (s *session) attach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	t := s.config.Target
	for _, address := range t.Addresses {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return driver.Explain("pulsar", []string{address}, t, err)
		}
		_ = conn.Close()
	}
	where := strings.Join(t.Addresses, ", ")
	var err error
	if s.largest, err = s.admin.maxMessageSize(ctx); err != nil {
		if denied(err) {
			return driver.RefusedLogin("pulsar", where, t, err)
		}
		return s.admin.explain(t, err)
	}
	if err = s.login(); err == nil {
		return s.reachesOwner(ctx)
	}
	explained := driver.Explain("pulsar", t.Addresses, t, err)
	var e *driver.ErrConnect
	if errors.As(explained, &e) && e.Obstacle == driver.NotUnderstood {
		return driver.Refused("pulsar", where, err)
	}
	return explained
}

// login checks the login by a request of the binary protocol, which the broker answers for known users only.
func (s *session) login() error {
	c, err := s.connect(s.logged)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.TopicPartitions("persistent://" + s.probed())
	if err != nil && strings.Contains(err.Error(), "TopicNotFound") { // a tenant may have no namespace of that name
		return nil
	}
	return err
}

// probed is a topic to ask for, in an existing namespace.
func (s *session) probed() string {
	return strings.Join([]string{s.tenant(), cmp.Or(s.given(), "default"), "brokermark"}, "/")
}

// reachesOwner looks a topic up as clients do, and returns an error if the broker that has it can't be reached. It returns nil if
// the user may not ask.
func (s *session) reachesOwner(ctx context.Context) error {
	var owner struct {
		Plain string `json:"brokerUrl"`
		TLS   string `json:"brokerUrlTls"`
	}
	for _, base := range s.admin.urls {
		if err := s.admin.ask(ctx, http.MethodGet, base+"/lookup/v2/topic/persistent/"+s.probed(), nil, &owner); err == nil {
			break
		}
	}
	told := owner.Plain
	if s.config.Target.TLS != nil {
		told = owner.TLS
	}
	u, err := url.Parse(told)
	if err != nil || u.Host == "" {
		return nil //nolint:nilerr // the broker has answered before
	}
	given := s.config.Target.Addresses
	return driver.Advertised(ctx, "pulsar", strings.Join(given, ", "), "advertisedAddress, advertisedListeners", given, []string{u.Host})
}

// explain says why the admin interface can't be used.
func (a *admin) explain(t driver.Target, err error) error {
	const broker = "pulsar's admin interface (client.webServiceUrl)"
	if status(err) != 0 {
		return driver.Refused(broker, strings.Join(a.urls, ", "), err)
	}
	var addresses []string
	for _, text := range a.urls {
		u, bad := url.Parse(text)
		if bad != nil || u.Host == "" {
			return driver.Unsupported("client.webServiceUrl: "+text, "it is no address like http://127.0.0.1:8080")
		}
		if u.Scheme != "https" {
			t.TLS = nil
		}
		addresses = append(addresses, u.Host)
	}
	return driver.Explain(broker, addresses, t, err)
}
