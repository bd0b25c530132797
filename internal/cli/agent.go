package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/study"
)

const (
	joinDoc  = "`address` of the control server, as run --agents prints it: nats://HOST:PORT?pin=sha256:… or ?ca=FILE"
	tokenDoc = "`file` with the token of the control server"
)

// tokenFlags are the two flags that say where the token of a control server is.
type tokenFlags struct{ file, env string }

func (t *tokenFlags) flags(f *pflag.FlagSet, doc string) {
	f.StringVar(&t.file, "token-file", "", doc)
	f.StringVar(&t.env, "token-env", "", "environment `variable` that holds the token instead")
}

// argument returns the flag by which an agent of the same machine gets the token. Without flags the control server keeps one in dir.
func (t *tokenFlags) argument(dir string) string {
	if t.env != "" {
		return "--token-env " + shellWord(t.env)
	}
	return "--token-file " + shellWord(cmp.Or(t.file, fleet.TokenFile(dir)))
}

// read returns the token, or "" without flags.
func (t *tokenFlags) read() (token string, err error) {
	switch {
	case t.file != "" && t.env != "":
		return "", badInput("--token-file and --token-env: give one of them")
	case t.file != "":
		token, err = fleet.ReadToken(t.file)
	case t.env != "":
		token, err = fleet.TokenOf("environment variable "+t.env, os.Getenv(t.env))
	}
	if err != nil {
		return "", badInput("%v", err)
	}
	return token, nil
}

func (s *shell) agentCommand() *cobra.Command {
	var join, log, placed string
	var meter []string
	var token tokenFlags
	o := fleet.Options{Build: toolVersion()}
	c := &cobra.Command{
		Use:   "agent",
		Short: "Run producers and consumers for a run on another machine",
		Long: `Agent connects to the control server of brokermark run --agents, or waits for
one, and runs producers and consumers for it. Nothing listens here. A run whose
coordinator is not heard for 4 s is ended and cleaned up. The result of a trial
is in a file of the work directory (BROKERMARK_HOME) until it is stored, and an
agent that is started again under its name goes on with it. Passwords of brokers
reach an agent over the encrypted control connection only, and stay in memory.

With --meter it runs no load, but tells runs that attach to a broker of this
machine what the broker's processes use. They are named by a number, a systemd
unit, or the port or address on which they listen; --meter can be repeated.`,
		Annotations: exitCodes(),
		Example: "  brokermark agent --join 'nats://bench-1:4248?pin=sha256:…' --token-file token\n" +
			"  brokermark agent --join nats://127.0.0.1:4222 --token-file token --meter :9092\n" +
			"  brokermark agent list --join 'nats://bench-1:4248?ca=ca.pem' --token-file token",
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			if placed != "" {
				if o.Join, err = fleet.ParseAddress(join); err != nil {
					return badInput("%v", err)
				}
				program, err := os.Executable()
				if err != nil {
					return err
				}
				streams, secret, err := fleet.Begin(placed, program, s.in, s.out, cancel)
				if err != nil {
					return badInput("%v", err)
				}
				o.By, o.Token, o.Once = streams, secret, true
			} else if o.Join, o.Token, err = control(join, token); err != nil {
				return err
			}
			if len(meter) > 0 {
				if o.Meter, err = provision.Chosen(c.Context(), meter); err != nil {
					return badInput("--meter: %v", err)
				}
			}
			if log != "" {
				file, err := openLog(log, "")
				if err != nil {
					return err
				}
				defer file.Close()
				o.Log = file
			}
			if o.Meter == nil && placed == "" { // else there are no results, or no folder that they may be left in
				o.Dir = filepath.Join(provision.DefaultDir(), provision.ResultsDir)
			}
			o.Say = func(format string, args ...any) {
				fmt.Fprintln(s.err, render.CleanLines(fmt.Sprintf("brokermark: "+format, args...)))
			}
			if err = fleet.Join(ctx, o); placed != "" && ctx.Err() != nil && c.Context().Err() == nil {
				return nil // the coordinator is gone, and everything was cleaned up
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&join, "join", "", joinDoc)
	token.flags(f, tokenDoc)
	f.StringVar(&o.Name, "name", "", "name of this agent in records (default: the host's name)")
	f.BoolVar(&o.Once, "once", false, "end with the first run")
	f.StringArrayVar(&meter, "meter", nil, "meter the processes of a broker: `PID|unit|:port`")
	f.StringVar(&log, "log", "", "`file` for the client libraries' own messages")
	f.StringVar(&placed, "placed", "", "the `folder` from which run --agents ssh:… has started this agent")
	if err := f.MarkHidden("placed"); err != nil {
		panic(err)
	}
	c.AddCommand(s.agentListCommand(), s.agentManifestCommand())
	return c
}

func (s *shell) agentListCommand() *cobra.Command {
	var join string
	var token tokenFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "Show the agents at a control server",
		Example: "  brokermark agent list --join 'nats://bench-1:4248?pin=sha256:…' --token-file token\n" +
			"  brokermark agent list --join 'nats://bench-1:4222?ca=ca.pem' --token-file token\n" +
			"  brokermark agent list --join nats://127.0.0.1:4222 --token-file token",
		Args:        arguments(cobra.NoArgs),
		Annotations: exitCodes(),
		RunE: func(c *cobra.Command, _ []string) error {
			a, secret, err := control(join, token)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), listWait)
			defer cancel()
			m, err := fleet.Reach(ctx, nil, a, secret, func(string, ...any) {})
			if errors.Is(err, context.DeadlineExceeded) {
				return brokerFailed(fmt.Errorf("no control server answered at %s within %s; there is one while a run waits for agents or uses them", a.Server, listWait))
			}
			if err != nil {
				return brokerFailed(err)
			}
			defer m.Close()
			list, err := m.List(ctx)
			if err != nil {
				return brokerFailed(err)
			}
			return s.showAgents(list)
		},
	}
	f := c.Flags()
	f.StringVar(&join, "join", "", joinDoc)
	token.flags(f, tokenDoc)
	return c
}

// listWait bounds how long a control server may take to answer.
const listWait = 5 * time.Second

func (s *shell) showAgents(list []fleet.Status) error {
	if len(list) == 0 {
		fmt.Fprintln(s.err, "brokermark: no agent is connected")
		return nil
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AGENT\tHOST\tPID\tSYSTEM\tCORES\tLOAD\tVERSION\tWORKS FOR")
	for _, one := range list {
		i, load, busy := one.Info, strconv.FormatFloat(one.Load, 'f', 2, 64), cmp.Or(one.Busy, "no run")
		if one.Load < 0 {
			load = "unknown"
		}
		if i.Meters != "" {
			busy += "; meters " + i.Meters
		}
		fields := []string{i.Name, i.Host, strconv.Itoa(i.PID), i.OS, strconv.Itoa(i.Cores), load, i.Build, busy}
		fmt.Fprintln(w, strings.Join(lists.Map(fields, render.Line), "\t")) // every holder of the token chooses its own
	}
	return w.Flush()
}

// control returns the address of a control server and its token, both of which are needed.
func control(join string, t tokenFlags) (fleet.Address, string, error) {
	if join == "" || t == (tokenFlags{}) {
		return fleet.Address{}, "", hinted(badInput("--join and --token-file are needed"), "brokermark run --agents N prints both for its control server")
	}
	a, err := fleet.ParseAddress(join)
	if err != nil {
		return a, "", badInput("%v", err)
	}
	token, err := t.read()
	return a, token, err
}

// The values of --agents that are no number: "auto" begins with one agent and takes more if they limit what is measured;
// "ssh:bench-1,bench-2" places an agent on each host.
const (
	autoAgents = "auto"
	onHosts    = "ssh:"
)

// agents are the flags of a run on agents: processes, also on other machines, that run its producers and consumers. Run and
// agents meet at a control server.
type agents struct {
	count   string   // value of --agents
	n       int      // how many agents it asks for at first; 0: the run needs none
	auto    bool     // the run may take more than n
	hosts   []string // on which agents are placed
	control string   // address on which a control server is started, or nats:// of one that is there
	token   tokenFlags
	wait    time.Duration
	names   []string // that specs give the agents; nil: specs name none

	// What gather has made.
	server  *fleet.Control // nil: there is one elsewhere
	meeting *fleet.Meeting
	placed  *fleet.Placed
	fleet   *fleet.Fleet
}

func (a *agents) flags(f *pflag.FlagSet) {
	f.StringVar(&a.count, "agents", "", "run producers and consumers on `n` agents (brokermark agent); auto: start with one, and add free agents while the generator is the bottleneck; ssh:HOST,HOST: on agents that are placed on these hosts")
	f.StringVar(&a.control, "control", "127.0.0.1:4248", "`address` on which agents reach this run, or nats:// of a NATS server to meet at")
	a.token.flags(f, "`file` with the token of the control server (default: one made in the work directory)")
	f.DurationVar(&a.wait, "agents-wait", time.Minute, "how long to wait for missing agents")
}

// parse reads --agents.
func (a *agents) parse() (err error) {
	hosts, isHosts := strings.CutPrefix(a.count, onHosts)
	switch {
	case a.count == "":
	case a.count == autoAgents:
		a.n, a.auto = 1, true
	case isHosts:
		a.hosts = strings.Split(hosts, ",")
		a.n = len(a.hosts)
		if err := fleet.CheckHosts(a.hosts); err != nil {
			return badInput("--agents %s: %v", a.count, err)
		}
	default:
		if a.n, err = strconv.Atoi(a.count); err != nil || a.n < 1 {
			return badInput("--agents %s: allowed is 1 or more, %s, or ssh:HOST,HOST", a.count, autoAgents)
		}
	}
	return nil
}

// check parses --agents and refuses points that the agents can't run.
func (a *agents) check(points []study.Point) error {
	if err := a.parse(); err != nil {
		return err
	}
	for _, p := range points {
		err := lab.WithoutAgents(p.Spec)
		if a.n > 0 {
			err = lab.OnAgents(p.Spec, a.n)
		}
		if err != nil {
			return badInput("%s", placed(p, err))
		}
		if a.auto && p.Spec.Place.Spread() {
			return badInput("--agents %s: place: %s is for a number of agents", autoAgents, p.Spec.Place)
		}
		if names := p.Spec.Place.Agents(); len(names) > 0 {
			if len(a.names) > 0 && !slices.Equal(names, a.names) {
				return badInput("--agents %d: points name different agents in place: %s, and %s", a.n, strings.Join(a.names, ", "), strings.Join(names, ", "))
			}
			a.names = names
		}
	}
	return nil
}

// gather connects to the control server, which it starts unless --control names one, and waits for the agents. The caller calls
// close even after an error.
func (a *agents) gather(ctx context.Context, h *provision.Host, o *lab.Options, say func(string, ...any)) error {
	if a.n == 0 {
		return nil
	}
	var address fleet.Address
	token, err := a.token.read()
	if err != nil {
		return err
	}
	if strings.Contains(a.control, "://") {
		if address, err = fleet.ParseAddress(a.control); err != nil {
			return badInput("--%v", err)
		}
		if token == "" {
			return badInput("--control %s: the server's token is needed: --token-file FILE or --token-env VARIABLE", address.Server)
		}
	} else {
		dir := filepath.Join(h.Dir, provision.ControlDir)
		if a.server, err = fleet.Listen(a.control, dir, token); err != nil {
			return brokerFailed(err)
		}
		address, token = a.server.Join, a.server.Token
		say("agents join with: brokermark agent --join '%s' %s", address, a.token.argument(dir))
	}
	within, cancel := context.WithTimeout(ctx, a.wait)
	defer cancel()
	if a.meeting, err = fleet.Reach(within, a.server, address, token, say); err != nil {
		return brokerFailed(fmt.Errorf("control server %s: %w", address.Server, err))
	}
	ctx, agentFailed := context.WithCancelCause(ctx)
	defer agentFailed(nil)
	if a.hosts != nil {
		if address.CA != "" {
			return badInput("--control %s: no host has the file %s; give the fingerprint of the server's certificate (?pin=sha256:…)", address.Server, address.CA)
		}
		if a.placed, err = fleet.Place(ctx, a.hosts, address, token, say, agentFailed); err != nil {
			return brokerFailed(err)
		}
	}
	a.fleet, err = a.meeting.Gather(ctx, fleet.Gathering{Agents: a.n, Auto: a.auto, Names: a.names, Wait: a.wait, Build: toolVersion(), Say: say})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause // an agent that was placed has ended
		}
		return brokerFailed(err)
	}
	o.NewAgent, o.AgentsHere, o.Meters = a.fleet.Agent, a.fleet.Here, a.fleet.Meters
	return nil
}

// close frees the agents, and ends those that were placed.
func (a *agents) close() {
	if a.fleet != nil {
		a.fleet.Close()
	}
	if a.placed != nil {
		a.placed.Close()
	}
	if a.meeting != nil {
		a.meeting.Close()
	}
	if a.server != nil {
		a.server.Close()
	}
}
