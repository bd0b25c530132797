package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/watch"
)

// watching serves a run that is under way: a live page for people (--watch) and metrics for Prometheus (--metrics). Both may have the
// same address, and then one server.
type watching struct {
	page, scrape string // addresses; "": not served
	tokenEnv     string
	token        string
	metrics      *watch.Metrics // nil: not served
	servers      []*watch.Server
}

func (w *watching) flags(f *pflag.FlagSet) {
	f.StringVar(&w.page, "watch", "", "`address` of a page that shows the run live, such as 8080")
	f.StringVar(&w.scrape, "metrics", "", "`address` where Prometheus may scrape the run, such as 9464")
	f.StringVar(&w.tokenEnv, "watch-token-env", "", "environment `variable` with a token that browsers and scrapers have to send")
}

// open listens at the addresses.
func (w *watching) open(f *watch.Follower, say func(format string, args ...any)) error {
	for _, a := range []struct {
		flag string
		text *string
	}{{"--watch", &w.page}, {"--metrics", &w.scrape}} {
		if *a.text == "" {
			continue
		}
		complete, err := watch.Address(*a.text)
		if err != nil {
			return badInput("%s: %w", a.flag, err)
		}
		*a.text = complete
	}
	if w.tokenEnv != "" {
		if w.token = os.Getenv(w.tokenEnv); w.token == "" {
			return badInput("--watch-token-env %s: there is no such environment variable, or it is empty", w.tokenEnv)
		}
		var err error
		if w.token, err = fleet.TokenOf("--watch-token-env "+w.tokenEnv, w.token); err != nil {
			return badInput("%w", err)
		}
	}
	pages, metrics := http.NewServeMux(), http.NewServeMux()
	if w.scrape == w.page {
		metrics = pages
	}
	if w.scrape != "" {
		w.metrics = watch.NewMetrics(f)
		metrics.Handle("GET /metrics", w.metrics.Handler())
	}
	if w.page != "" {
		pages.Handle("GET /", watch.Page(f))
		if err := w.serve("--watch", w.page, pages); err != nil {
			return err
		}
		say("watch the run at %s/", w.servers[0].URL)
	}
	if w.scrape != "" && w.scrape != w.page {
		if err := w.serve("--metrics", w.scrape, metrics); err != nil {
			return err
		}
	}
	if w.scrape != "" {
		say("metrics at %s/metrics", w.servers[len(w.servers)-1].URL)
	}
	return nil
}

func (w *watching) serve(flag, address string, site http.Handler) error {
	s, err := watch.Serve(address, w.token, site)
	if err != nil {
		w.close()
		if errors.Is(err, watch.ErrOpen) {
			return badInput("%s %s: %w", flag, address, err)
		}
		return hinted(badInput("%s: %w", flag, err), "another port, or 0 for a free one")
	}
	w.servers = append(w.servers, s)
	return nil
}

func (w *watching) event(e lab.Event) {
	if w.metrics != nil {
		w.metrics.Event(e)
	}
}

func (w *watching) close() {
	for _, s := range w.servers {
		_ = s.Close() // a page that ended early spoils no measurement
	}
	w.servers = nil
}

// announce lists the live page in the store for other programs. The run goes on if the store doesn't accept it.
func (w *watching) announce(ctx context.Context, st *store.Store) (withdraw func()) {
	if w.page == "" {
		return func() {}
	}
	withdraw, _ = st.Announce(ctx, store.Page{URL: reachable(w.servers[0].URL), Host: hostName()}, store.Lease)
	return withdraw
}

// reachable returns the URL of a server with the name of this machine in it if the server listens at all addresses.
func reachable(url string) string {
	host, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return url + "/"
	}
	return "http://" + net.JoinHostPort(hostName(), port) + "/"
}
