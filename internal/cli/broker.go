package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/internal/unit"
)

func (s *shell) brokerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "broker install | up | down | status | logs",
		Short:   "Install, start and stop brokers by hand",
		Example: "  brokermark broker up nats\n  brokermark broker status\n  brokermark broker down nats",
		Args:    cobra.ArbitraryArgs,
		RunE:    group,
	}
	c.AddCommand(s.installCommand(), s.upCommand(), s.downCommand(), s.statusCommand(), s.logsCommand())
	return c
}

// host opens the work directory, where brokers are installed and started. It prints what is done there on stderr.
func (s *shell) host() (*provision.Host, error) {
	h, err := provision.NewHost(provision.DefaultDir(), func(format string, args ...any) {
		fmt.Fprintf(s.err, format+"\n", args...)
	})
	return h, brokerFailed(err)
}

// parseProduct parses BROKER@VERSION or BROKER, which means the default version.
func parseProduct(arg string) (product, error) {
	broker, version, _ := strings.Cut(arg, "@")
	if _, err := provision.Lookup(broker); err != nil {
		return product{}, badInput("%w%s", err, suggest.DidYouMean(broker, provision.Names()))
	}
	return product{broker, version}, nil
}

func (s *shell) installCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "install BROKER[@VERSION]...",
		Short:   "Install brokers; quick if they are installed already",
		Example: "  brokermark broker install nats\n  brokermark broker install kafka rabbitmq\n  brokermark broker install kafka@3.9.2",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := s.host()
			if err != nil {
				return err
			}
			for _, arg := range args {
				p, err := parseProduct(arg)
				if err != nil {
					return err
				}
				dir, err := h.Install(c.Context(), p.broker, p.version)
				if err != nil {
					return brokerFailed(err)
				}
				fmt.Fprintf(s.out, "%s is installed in %s\n", arg, dir)
			}
			return nil
		},
	}
}

// upOptions are the flags of broker up.
type upOptions struct {
	nodes       int
	tls         string
	user        string
	passwordEnv string
	server      map[string]string
	ports       map[string]string
}

func (s *shell) upCommand() *cobra.Command {
	var o upOptions
	c := &cobra.Command{
		Use:   "up BROKER[@VERSION]",
		Short: "Start a broker that keeps running",
		Example: "  brokermark broker up nats\n" +
			"  brokermark broker up jetstream --nodes 3\n" +
			"  brokermark broker up kafka --server num.io.threads=4 --port client=9092",
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return s.up(c.Context(), o, args[0]) },
	}
	f := c.Flags()
	f.IntVar(&o.nodes, "nodes", 1, "servers in the cluster")
	f.StringVar(&o.tls, "tls", study.TLSOff, "encrypt the clients' connections, with certificates made for it: off, on, mutual")
	f.StringVar(&o.user, "user", "", "accept this user only")
	f.StringVar(&o.passwordEnv, "password-env", "", "environment `variable` that holds the user's password")
	f.StringToStringVar(&o.server, "server", nil, "server settings as `name=value`, by their native names, such as num.io.threads=4")
	f.Lookup("server").DefValue = ""
	f.StringToStringVar(&o.ports, "port", nil, "ports of the first node as `role=port`, such as client=9092 (default: free ones)")
	f.Lookup("port").DefValue = ""
	return c
}

func (s *shell) up(ctx context.Context, o upOptions, arg string) error {
	p, err := parseProduct(arg)
	if err != nil {
		return err
	}
	if o.nodes < 1 {
		return badInput("--nodes %d: allowed: 1 or more", o.nodes)
	}
	options := provision.Options{
		Broker: p.broker, Version: p.version, Nodes: o.nodes, Server: map[string]any{}, Ports: map[string]int{},
	}
	if err := o.guard(&options); err != nil {
		return err
	}
	for name, value := range o.server {
		options.Server[name] = value
	}
	for _, role := range slices.Sorted(maps.Keys(o.ports)) {
		value := o.ports[role]
		port, err := strconv.Atoi(value)
		if err != nil || port < 1 || port > 65535 {
			return badInput("--port %s=%s: not a port; allowed: 1 to 65535", role, value)
		}
		options.Ports[role] = port
	}
	h, err := s.host()
	if err != nil {
		return err
	}
	began := time.Now()
	in, err := h.Start(ctx, options)
	if err != nil {
		return brokerFailed(err)
	}
	if err := in.Detach(); err != nil {
		_ = in.Stop(ctx)
		return brokerFailed(err)
	}
	addresses := strings.Join(in.Addresses(), ",")
	fmt.Fprintf(s.out, "%s %s is up after %s as %s\n  address: %s\n", in.Broker(), in.Version(), span(time.Since(began)), in.ID(), addresses)
	for _, role := range slices.Sorted(maps.Keys(in.Endpoints())) {
		fmt.Fprintf(s.out, "  %s: %s\n", role, in.Endpoints()[role])
	}
	said := ""
	if kind, err := driver.Lookup(p.broker); err == nil && kind.Attaching != nil {
		for _, set := range kind.Attaching(options.Server, driver.Target{Addresses: in.Addresses(), Endpoints: in.Endpoints()}) {
			said += " --set " + set
		}
	}
	fmt.Fprintf(s.out, "  measure: brokermark run --broker %s --attach %s%s%s\n  stop: brokermark broker down %s\n",
		p.broker, addresses, said, o.loginArguments(in.TLSFiles()), in.ID())
	return nil
}

func (s *shell) downCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:               "down [BROKER | ID]...",
		Short:             "Stop brokers and remove their data",
		ValidArgsFunction: s.runningBrokers,
		Example:           "  brokermark broker down nats\n  brokermark broker down --all\n  brokermark broker status && brokermark broker down --all",
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return hinted(badInput("name the brokers to stop, or --all"), "brokermark broker status lists them")
			}
			h, err := s.host()
			if err != nil {
				return err
			}
			if all {
				for _, st := range h.Running() {
					// A broker of a run under way is that run's to stop.
					if st.Detached {
						args = append(args, st.ID)
					}
				}
			}
			return s.down(c.Context(), h, args)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every broker that was started with up")
	return c
}

func (s *shell) down(ctx context.Context, h *provision.Host, ids []string) error {
	for _, id := range ids {
		in, err := h.Attach(id)
		if err != nil {
			return hinted(badInput("%w", err), "brokermark broker status")
		}
		if err := in.Stop(ctx); err != nil {
			return brokerFailed(err)
		}
		fmt.Fprintf(s.out, "%s is stopped\n", in.ID())
	}
	if len(ids) == 0 {
		fmt.Fprintln(s.out, "no broker is running")
	}
	return nil
}

func (s *shell) statusCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show the brokers that run",
		Example: "  brokermark broker status\n  brokermark broker status --format jsonl\n  brokermark broker up nats && brokermark broker status",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			h, err := s.host()
			if err != nil {
				return err
			}
			running := h.Running()
			d := document.Document{Title: "Running brokers"}
			if len(running) == 0 {
				d.Say("None below " + h.Dir + ".")
			} else {
				d.Add(statusTable(running))
			}
			return s.write(d, format)
		},
	}
	formatFlag(c.Flags(), &format, documentFormats...)
	return c
}

func statusTable(running []provision.State) document.Table {
	t := document.Table{Columns: []document.Column{
		{Key: "id", Name: "id", Identifies: true},
		{Key: "broker", Name: "broker"},
		{Key: "version", Name: "version"},
		{Key: "nodes", Name: "nodes"},
		{Key: "up_s", Name: "for", Unit: unit.Seconds},
		{Key: "owner", Name: "started by"},
		{Key: "addresses", Name: "addresses"},
	}}
	for _, st := range running {
		owner := "a run"
		if st.Detached {
			owner = "broker up"
		}
		nodes := fmt.Sprintf("%d of %d", st.Running, len(st.Nodes))
		t.AddRow(document.Text(st.ID), document.Text(st.Broker), document.Text(st.Version), document.Text(nodes),
			document.Number(time.Since(st.Began).Seconds()), document.Text(owner), document.Text(strings.Join(st.Addresses, " ")))
	}
	return t
}

func (s *shell) logsCommand() *cobra.Command {
	var lines, node int
	c := &cobra.Command{
		Use:     "logs BROKER | ID",
		Short:   "Show the end of a running broker's log",
		Example: "  brokermark broker logs nats\n  brokermark broker logs kafka -n 200\n  brokermark broker logs jetstream --node 2",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := s.host()
			if err != nil {
				return err
			}
			in, err := h.Attach(args[0])
			if err != nil {
				return hinted(badInput("%w", err), "brokermark broker status")
			}
			if node < 1 || node > in.Nodes() {
				return badInput("--node %d: %s has nodes 1 to %d", node, in.ID(), in.Nodes())
			}
			for _, line := range in.LogTail(node, lines) {
				fmt.Fprintln(s.out, line)
			}
			return nil
		},
	}
	c.Flags().IntVarP(&lines, "lines", "n", 50, "how many lines")
	c.Flags().IntVar(&node, "node", 1, "node of the cluster")
	return c
}

// guard sets the options by which a broker demands TLS and a login of its clients.
func (o upOptions) guard(options *provision.Options) error {
	switch o.tls {
	case study.TLSOff:
	case study.TLSOn, study.TLSMutual:
		options.TLS, options.Mutual = true, o.tls == study.TLSMutual
	default:
		return badInput("--tls %s: unknown; allowed: off, on, mutual", o.tls)
	}
	if o.user == "" && o.passwordEnv == "" {
		return nil
	}
	password := os.Getenv(o.passwordEnv)
	switch {
	case o.user == "":
		return badInput("--password-env %s: no user; name one with --user", o.passwordEnv)
	case o.passwordEnv == "":
		return badInput("--user %s: no password; --password-env names an environment variable that holds it", o.user)
	case password == "":
		return badInput("--password-env %s: there is no such environment variable, or it is empty", o.passwordEnv)
	}
	options.Login = &provision.Login{User: o.user, Password: password}
	return nil
}

// loginArguments returns the flags with which a run can use the broker that was started with o, such as " --user me --password-env
// PW".
func (o upOptions) loginArguments(files *provision.TLSFiles) (flags string) {
	if files != nil {
		flags += " --tls " + o.tls + " --ca-file " + files.CA
		if files.Mutual {
			flags += " --cert-file " + files.ClientCert + " --key-file " + files.ClientKey
		}
	}
	if o.user != "" {
		flags += " --user " + o.user + " --password-env " + o.passwordEnv
	}
	return flags
}
