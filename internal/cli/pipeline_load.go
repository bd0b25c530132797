package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/hist"
	loading "github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/schedule"
)

type loadOptions struct {
	threads  int
	requests int64
	rate     float64
	load     loading.Load
	method   string
	body     string
	headers  []string
	ca       string
	seed     uint64
	format   string
	changed  func(string) bool
}

func (s *shell) pipelineLoadCommand() *cobra.Command {
	o := &loadOptions{}
	c := &cobra.Command{
		Use:   "load URL",
		Short: "Load a pipeline's server, or any HTTP endpoint",
		Long: `Load posts random valid rides in the two phases of the assignment: 32 threads
that post 1,000 of 200,000 each, and as many fewer of fewer in all, then
--threads threads until --requests have been posted. Each thread waits for its
answer before it posts the next ride (a closed loop).
With --rate it is an open loop: requests are due at a fixed rate for --duration,
and one that falls due while every thread waits counts from when it was due.

With --method or --body the URL's path is requested as it is, whatever it
serves; {i} in path and body stands for the number of the request.`,
		Example: "  brokermark pipeline load http://127.0.0.1:8080 --threads 300\n" +
			"  brokermark pipeline load http://127.0.0.1:8080 --rate 1000 --duration 30s\n" +
			"  brokermark pipeline load 'http://127.0.0.1:9000/items/{i}' --method PUT --body item.json --requests 10000",
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			o.changed = c.Flags().Changed
			l, err := o.complete(args[0])
			if err != nil {
				return err
			}
			r, err := loading.NewRunner(l)
			if err != nil {
				return badInput("%w", err)
			}
			out := r.Run(c.Context())
			if err := s.printLoad(o, out); err != nil {
				return err
			}
			if err := c.Context().Err(); err != nil {
				return err
			}
			if out.Failed+out.Unsent > 0 {
				why := ""
				if out.Err != nil {
					why = ": " + out.Err.Error()
				}
				return &failure{code: exitFailed, err: fmt.Errorf("%d of %d requests failed and %d were never sent%s", out.Failed, out.Due, out.Unsent, why)}
			}
			return nil
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.IntVar(&o.threads, "threads", 100, "threads of the second phase; with --rate those that can wait for an answer at once")
	f.Int64Var(&o.requests, "requests", 200_000, "requests of both phases together")
	f.Float64Var(&o.rate, "rate", 0, "requests per second, instead of the two phases")
	f.DurationVar(&o.load.Duration, "duration", 30*time.Second, "with --rate: length of the measured phase")
	f.DurationVar(&o.load.Warmup, "warmup", 5*time.Second, "with --rate: time before it that is not measured")
	f.DurationVar(&o.load.Drain, "drain", 10*time.Second, "with --rate: time after it for requests that still wait")
	f.IntVar(&o.load.Retries, "retries", 5, "repetitions of a request without an answer, or with 429 or 5xx")
	f.DurationVar(&o.load.Backoff, "backoff", 100*time.Millisecond, "before the first repetition; it doubles each time")
	f.DurationVar(&o.load.Timeout, "timeout", 30*time.Second, "for one answer")
	f.StringVar(&o.method, "method", "", "any endpoint: the method (default: POST with --body, else GET)")
	f.StringVar(&o.body, "body", "", "any endpoint: `file` with the body")
	f.StringArrayVar(&o.headers, "header", nil, "any endpoint: a header, `Name: value`; repeatable")
	f.StringVar(&o.ca, "ca-file", "", "https: authorities to trust, a PEM `file` (default: the system's)")
	f.Uint64Var(&o.seed, "seed", 1, "of the rides")
	f.StringVar(&o.format, "format", "text", "text or json")
	return c
}

// complete makes a load of the flags.
func (o *loadOptions) complete(target string) (l loading.Load, err error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return l, badInput("%q is no URL of a server; allowed: http://host:port or https://host:port", target)
	}
	if o.format != "text" && o.format != "json" {
		return l, badInput("--format %s: unknown; allowed: text, json", o.format)
	}
	if o.load.Retries < 0 || o.load.Backoff < 0 || o.load.Timeout <= 0 || o.load.Warmup < 0 || o.load.Drain < 0 {
		return l, badInput("--retries, --backoff, --warmup and --drain can't be negative, and --timeout must be above 0")
	}
	l = o.load
	defaultPorts := map[string]string{"http": "80", "https": "443"}
	l.Address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), defaultPorts[u.Scheme]))
	if u.Scheme == "https" {
		if l.TLS, err = o.secure(u.Hostname()); err != nil {
			return l, err
		}
	} else if o.ca != "" {
		return l, badInput("--ca-file is for https")
	}
	if l.Maker, err = o.maker(u); err != nil {
		return l, err
	}
	l.Threads = o.threads
	switch {
	case o.rate > 0:
		l.Schedule, err = schedule.Constant(o.rate)
	case o.changed("rate"):
		return l, badInput("--rate %v: allowed: above 0", o.rate)
	case o.method != "" || o.body != "":
		l.Phases = []loading.Phase{{Threads: o.threads, Total: o.requests}}
	default:
		l.Phases = loading.TwoPhases(o.threads, o.requests)
	}
	return l, err
}

func (o *loadOptions) secure(host string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if o.ca == "" {
		return c, nil
	}
	pem, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, badInput("--ca-file: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, badInput("--ca-file %s holds no certificate", o.ca)
	}
	return c, nil
}

// maker makes rides, or what --method and --body say.
func (o *loadOptions) maker(u *url.URL) (loading.Maker, error) {
	if o.method == "" && o.body == "" && len(o.headers) == 0 {
		if u.Path != "" && u.Path != "/" {
			return nil, badInput("rides are posted below /skiers; for another path give --method")
		}
		// The keys of each load have another prefix: what another load has posted is another ride.
		prefix := fmt.Sprintf("load-%08x-%s", rand.Uint32(), strings.ToLower(time.Now().UTC().Format("20060102T150405")))
		return &loading.Rides{Host: u.Host, Run: prefix, Seed: o.seed}, nil
	}
	path := strings.NewReplacer("%7Bi%7D", "{i}", "%7bi%7d", "{i}").Replace(u.RequestURI()) // {i} is to be replaced later
	t := &loading.Template{Method: strings.ToUpper(o.method), Host: u.Host, Path: path, Header: o.headers}
	if o.body != "" {
		var err error
		if t.Body, err = os.ReadFile(o.body); err != nil {
			return nil, badInput("--body: %w", err)
		}
	}
	switch {
	case t.Method != "":
	case len(t.Body) > 0:
		t.Method = http.MethodPost
	default:
		t.Method = http.MethodGet
	}
	if err := t.Check(); err != nil {
		return nil, badInput("%w", err)
	}
	return t, nil
}

// times are the response times of a load, in milliseconds, as the assignment reports them.
type times struct {
	Mean   float64 `json:"mean_ms"`
	Median float64 `json:"median_ms"`
	P99    float64 `json:"p99_ms"`
	Min    float64 `json:"min_ms"`
	Max    float64 `json:"max_ms"`
}

func timesOf(s hist.Snapshot) *times {
	if s.IsZero() {
		return nil
	}
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	return &times{s.Mean() / 1e6, ms(s.Quantile(0.5)), ms(s.Quantile(0.99)), ms(s.Min()), ms(s.Max())}
}

type loadReport struct {
	Due        int64         `json:"due"`
	Successful int64         `json:"successful"`
	Failed     int64         `json:"failed"`
	Unsent     int64         `json:"unsent"`
	Retries    int64         `json:"retries"`
	Answers    map[int]int64 `json:"answers"` // by status code; 0: none came
	WallMs     float64       `json:"wall_ms"`
	Throughput float64       `json:"requests_per_s"`
	Response   *times        `json:"response"`           // from the sending; nil: no request was accepted
	FromDue    *times        `json:"from_due,omitempty"` // from when a request was due; open loop only
}

func (s *shell) printLoad(o *loadOptions, out loading.Outcome) error {
	wall := float64(max(out.Last-out.From, 1)) / 1e9
	r := loadReport{
		Due: out.Due, Successful: out.Accepted, Failed: out.Failed, Unsent: out.Unsent, Retries: out.Retries, Answers: out.Codes,
		WallMs: wall * 1e3, Throughput: float64(out.Accepted) / wall, Response: timesOf(out.Response),
	}
	if o.rate > 0 {
		r.FromDue = timesOf(out.FromDue)
	}
	if o.format == "json" {
		return json.NewEncoder(s.out).Encode(r)
	}
	fmt.Fprintf(s.out, "successful requests  %d\nfailed requests      %d\n", r.Successful, r.Failed)
	if r.Unsent > 0 {
		fmt.Fprintf(s.out, "never sent           %d\n", r.Unsent)
	}
	var answers []string
	for _, code := range slices.Sorted(maps.Keys(r.Answers)) {
		name := fmt.Sprint(code)
		if code == 0 {
			name = "none"
		}
		answers = append(answers, fmt.Sprintf("%d × %s", r.Answers[code], name))
	}
	fmt.Fprintf(s.out, "retries              %d\nanswers              %s\nwall time            %.0f ms\nthroughput           %.0f requests/s\n",
		r.Retries, strings.Join(answers, ", "), r.WallMs, r.Throughput)
	r.Response.print(s.out, "response")
	r.FromDue.print(s.out, "from when due")
	return nil
}

func (t *times) print(out io.Writer, what string) {
	if t == nil {
		return
	}
	fmt.Fprintf(out, "%-20s mean %.2f ms, median %.2f ms, p99 %.2f ms, min %.2f ms, max %.2f ms\n", what, t.Mean, t.Median, t.P99, t.Min, t.Max)
}
