package parts_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/pipeline/pool"
	"github.com/brokermark/brokermark/internal/pipeline/server"
	"github.com/brokermark/brokermark/internal/provision"
)

// taker stands for a broker: it counts what it is given.
type taker struct{ n atomic.Int64 }

func (k *taker) Publish([]byte) error { k.n.Add(1); return nil }
func (k *taker) Counts() pool.Counts  { return pool.Counts{} }

var balancers = []string{parts.HAProxy, parts.Nginx}

func TestBalancersDivideRequestsAmongOneTwoAndFourServers(t *testing.T) {
	h := shared(t)
	for _, name := range balancers {
		for _, servers := range []int{1, 2, 4} {
			t.Run(fmt.Sprint(name, " ", servers), func(t *testing.T) {
				takers := make([]taker, servers)
				var addresses []string
				for i := range takers {
					s := httptest.NewServer(server.New(&takers[i], nil))
					t.Cleanup(s.Close)
					addresses = append(addresses, strings.TrimPrefix(s.URL, "http://"))
				}
				in := start(t, h, provision.Options{Broker: name, Server: parts.Balance(addresses)})
				o := post(t, in, 600)
				if o.Accepted != 600 || o.Retries != 0 {
					t.Errorf("%+v: %v", o.Counts, o.Err)
				}
				for i := range takers {
					if n := takers[i].n.Load(); n < int64(300/servers) {
						t.Errorf("server %d of %d got %d of 600 requests", i+1, servers, n)
					}
				}
			})
		}
	}
}

func post(t *testing.T, in *provision.Instance, requests int64) load.Outcome {
	t.Helper()
	r, err := load.NewRunner(load.Load{
		Address: in.Addresses()[0], TLS: in.ClientTLS(), Maker: &load.Rides{Host: "localhost", Run: "b", Seed: 1}, Phases: []load.Phase{{Threads: 8, Total: requests}},
		Retries: 5, Backoff: 20 * time.Millisecond, Timeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(t.Context())
}

// A server goes away, and the balancer itself is killed: no request fails that is posted again.
func TestABalancerGoesOnWithoutOneServerAndComesBackAfterAKill(t *testing.T) {
	h := shared(t)
	for _, name := range balancers {
		t.Run(name, func(t *testing.T) {
			var takers [2]taker
			var addresses []string
			var servers []*httptest.Server
			for i := range takers {
				s := httptest.NewServer(server.New(&takers[i], nil))
				t.Cleanup(s.Close)
				servers = append(servers, s)
				addresses = append(addresses, strings.TrimPrefix(s.URL, "http://"))
			}
			in := start(t, h, provision.Options{Broker: name, TLS: true, Server: parts.Balance(addresses)})
			if o := post(t, in, 100); o.Accepted != 100 {
				t.Errorf("%+v: %v", o.Counts, o.Err)
			}
			servers[0].Close()
			if o := post(t, in, 300); o.Accepted != 300 {
				t.Errorf("with one of two servers: %+v: %v", o.Counts, o.Err)
			}
			if err := errors.Join(in.Kill(t.Context(), 1), in.Restart(t.Context(), 1)); err != nil {
				t.Fatal(err)
			}
			if o := post(t, in, 100); o.Accepted != 100 {
				t.Errorf("after a kill: %+v: %v", o.Counts, o.Err)
			}
		})
	}
}

// What a server refuses comes through a balancer as the server says it.
func TestBalancersPassOnWhatServersRefuse(t *testing.T) {
	h := shared(t)
	s := httptest.NewServer(server.New(&taker{}, nil))
	defer s.Close()
	for _, name := range balancers {
		t.Run(name, func(t *testing.T) {
			in := start(t, h, provision.Options{Broker: name, Server: parts.Balance([]string{strings.TrimPrefix(s.URL, "http://")})})
			for _, c := range []struct {
				path, body string
				code       int
			}{
				{"/skiers/1/seasons/2024/days/7/skiers/1", strings.Repeat("x", 10<<20), 413},
				{"/skiers/1/seasons/2024/days/7/skiers/1", "{", 400},
				{"/skiers/1/seasons/2024/days/7/skiers/%2e%2e", `{"time":1,"liftID":1}`, 400},
				{"/skiers/99/seasons/2024/days/7/skiers/1", `{"time":1,"liftID":1}`, 400},
				{"/etc/passwd", "", 404},
			} {
				a, err := http.Post("http://"+in.Addresses()[0]+c.path, "application/json", strings.NewReader(c.body))
				if err != nil {
					t.Errorf("%s: %v", c.path, err)
					continue
				}
				text, _ := io.ReadAll(a.Body)
				a.Body.Close()
				if a.StatusCode != c.code {
					t.Errorf("%s: %s %s; want %d", c.path, a.Status, text, c.code)
				}
			}
		})
	}
}

func TestBalancersNeedServersThatCanBeOnes(t *testing.T) {
	h := shared(t)
	for _, name := range balancers {
		for _, settings := range []map[string]any{nil, {"servers": ""}, {"servers": 3}, {"server": "127.0.0.1:1"}, {"servers": "127.0.0.1"}, {"servers": "127.0.0.1:1;evil"}, {"servers": "a:1 check"}} {
			in, err := h.Start(t.Context(), provision.Options{Broker: name, Server: settings})
			if err == nil {
				_ = in.Stop(t.Context())
				t.Errorf("%s starts with %v", name, settings)
				continue
			}
			if !strings.Contains(err.Error(), "servers") && !strings.Contains(err.Error(), "one line") {
				t.Errorf("%v: %v", settings, err)
			}
		}
	}
}
