package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

// httpArg, as the first argument, makes this program a server that takes what a pipeline's server takes and does nothing.
const httpArg = "bare-http"

const (
	clients  = 1000 // connections, each with one request under way
	ridePath = "/skiers/3/seasons/2024/days/7/skiers/98486"
	rideBody = `{"time":217,"liftID":21}`
)

// httpMain is the least that net/http needs to read a ride and answer as the pipeline's server does.
func httpMain(address string) error {
	var accepted atomic.Int64
	answer := []byte(`{"message":"accepted"}`)
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprintf(w, `{"accepted":%d}`, accepted.Load())
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		accepted.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(answer)
	}))
}

// httpServer is a server under load.
type httpServer struct {
	name, address string
	pid           int
}

func (s *httpServer) url() string { return "http://" + s.address + ridePath }

func (s *httpServer) accepted() (int64, error) {
	a, err := http.Get("http://" + s.address + "/health")
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	var health struct{ Accepted int64 }
	err = json.NewDecoder(a.Body).Decode(&health)
	return health.Accepted, err
}

// serve starts a server by the command for an address, and waits until it answers. It dies with ctx.
func serve(ctx context.Context, name string, command func(address string) []string) (*httpServer, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &httpServer{name: name, address: address}
	args := command(address)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = diesWithUs()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = cmd.Wait() }()
	s.pid = cmd.Process.Pid
	for range 200 {
		if _, err = s.accepted(); err == nil {
			return s, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s doesn't answer: %w", name, err)
}

// pipeline sets the server of an ingestion pipeline beside a server that does nothing, and the load client beside wrk and hey.
func (b *bench) pipeline(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "brokermark-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	script, ride := filepath.Join(dir, "post.lua"), filepath.Join(dir, "ride.json")
	text := "wrk.method = 'POST'\nwrk.body = '" + rideBody + "'\nwrk.headers['Content-Type'] = 'application/json'\n"
	if err := errors.Join(os.WriteFile(script, []byte(text), 0o600), os.WriteFile(ride, []byte(rideBody), 0o600)); err != nil {
		return err
	}
	return b.with(ctx, provision.Options{Broker: "jetstream"}, func(in *provision.Instance) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		bare, err := serve(ctx, "bare net/http", func(address string) []string { return []string{"/proc/self/exe", httpArg, address} })
		if err != nil {
			return err
		}
		server := func(name string, args ...string) (*httpServer, error) {
			return serve(ctx, name, func(address string) []string {
				return append([]string{b.tool, "pipeline", "server", "--broker", "jetstream", "--attach", in.Addresses()[0], "--listen", address}, args...)
			})
		}
		narrow, err := server("server, 20 producers × 1", "--pool", "20", "--window", "1")
		if err != nil {
			return err
		}
		wide, err := server("server, 4 producers × 256", "--pool", "4", "--window", "256", "--join")
		if err != nil {
			return err
		}
		return b.httpRows(ctx, script, ride, bare, narrow, wide)
	})
}

func (b *bench) httpRows(ctx context.Context, script, ride string, bare, narrow, wide *httpServer) error {
	connections, seconds := strconv.Itoa(clients), strconv.Itoa(int(b.measure.Seconds()))
	wrk := func(to *httpServer) []string {
		return []string{"wrk", "-t1", "-c" + connections, "-d" + seconds + "s", "-s", script, to.url()}
	}
	rows := []struct {
		tool string
		to   *httpServer
		args []string
	}{
		{"wrk", bare, wrk(bare)},
		{"wrk", narrow, wrk(narrow)},
		{"wrk", wide, wrk(wide)},
		{"hey", wide, []string{
			"hey", "-z", seconds + "s", "-c", connections, "-m", "POST", "-T", "application/json", "-d", rideBody, wide.url(),
		}},
		// More requests than anybody posts in the time, after which it is ended.
		{"pipeline load", wide, []string{
			b.tool, "pipeline", "load", wide.url(), "--method", "POST", "--header", "Content-Type: application/json",
			"--body", ride, "--threads", connections, "--requests", "5000000",
		}},
	}
	var list []contender
	for _, row := range rows {
		if _, err := exec.LookPath(row.args[0]); err != nil {
			progress("%s is not installed: its rows are left out", row.args[0])
			continue
		}
		list = append(list, contender{row.to.name + " ← " + row.tool, func(ctx context.Context) (sample, error) {
			ctx, stop := context.WithTimeout(ctx, b.measure+time.Second)
			defer stop()
			return drive(ctx, row.to, row.args)
		}})
	}
	return b.compare(ctx, section{
		Title: "HTTP pipeline over JetStream",
		Settings: fmt.Sprintf("%d connections, each with one POST of a ride under way; 201 when the broker has confirmed it, persistence log; without consumers; "+
			"rates are of accepted requests, processor time is the server's alone (CPU-s/million: µs per request), the note is the client's", clients),
	}, list, nil, nil)
}

// drive runs a client to its end, and looks at the server before and after.
func drive(ctx context.Context, to *httpServer, args []string) (sample, error) {
	before, err := to.accepted()
	if err != nil {
		return sample{}, err
	}
	first := look(to.pid)
	w, ran := watch(ctx, nil, args[0], args[1:]...)
	last := look(to.pid)
	after, err := to.accepted()
	if err != nil {
		return sample{}, err
	}
	n := float64(after - before)
	if n == 0 {
		return sample{}, fmt.Errorf("no request was accepted: %w", ran)
	}
	cpu, seconds := (last.cpu - first.cpu).Seconds(), last.at.Sub(first.at).Seconds()
	return sample{
		Rate: n / seconds, CPU: cpu / n * 1e6, Cores: cpu / seconds, Memory: w.memory,
		Note: fmt.Sprintf("client %.0f µs per request", w.total.Seconds()/n*1e6),
	}, nil
}
