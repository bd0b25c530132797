package provision

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"
)

// Options say which broker to start and how.
type Options struct {
	Broker  string
	Version string         // "": the recipe's default
	Nodes   int            // 0: 1
	TLS     bool           // on the client port
	Mutual  bool           // TLS, and a client certificate is demanded
	Login   *Login         // the only user that the broker accepts; nil: its default
	Server  map[string]any // server settings by their native names
	Ports   map[string]int // wanted ports of node 1 by the recipe's names; other ports are chosen freely
	Limits  Limits         // of each node
	// DataInMemory is how many bytes of data each node may have, in memory; 0: they are on the disk. They are gone when it is stopped.
	DataInMemory int64
	// Far returns the address to advertise to clients for the address of a node's port Recipe.Far: that of a proxy to it. Nil:
	// there is no such port.
	Far func(address string) (told string, err error)
	// Profiles is a folder for what the product's own profiler finds, a file for each node: kafka-1.jfr; "": it isn't asked.
	Profiles string
	Keep     bool          // leave the directories behind
	Deadline time.Duration // for everything after the installation; 0: the recipe's
}

const (
	usualDeadline = time.Minute
	stopDeadline  = 15 * time.Second
	probeFirst    = 10 * time.Millisecond
	probeLast     = 500 * time.Millisecond
	probeLimit    = 15 * time.Second // for one probe: a hanging one must not use up the deadline
)

// plainWord fits the configuration of every broker without quoting.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

var portClash = regexp.MustCompile(`(?i)address (already )?in use|eaddrinuse|port .*in use`)

// Start installs the broker if necessary, starts it and blocks until it is ready. After an error it leaves nothing behind.
// Errors: *ErrRefused, *ErrSetting, *ErrMissing, *ErrNoDisk, *ErrPortInUse, *ErrDied, *ErrNotReady, or ctx's.
func (h *Host) Start(ctx context.Context, o Options) (*Instance, error) {
	recipe, err := o.complete()
	if err != nil {
		return nil, err
	}
	install, err := h.Install(ctx, o.Broker, o.Version)
	if err != nil {
		return nil, err
	}
	if err := h.checkDisk(); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		in, err := h.startOnce(ctx, recipe, install, o)
		log, clash := clashed(err)
		switch {
		case err == nil:
			return in, nil
		case !clash:
			return nil, err
		case attempt > 1 || len(o.Ports) > 0:
			return nil, &ErrPortInUse{Log: log}
		}
		h.log("%s met a port in use; trying other ports", o.Broker)
	}
}

// complete fills in defaults and refuses options that the recipe doesn't support.
func (o *Options) complete() (*Recipe, error) {
	r, v, err := startable(o.Broker, o.Version)
	if err != nil {
		return nil, err
	}
	if err := plainSettings(o.Server); err != nil {
		return nil, err
	}
	o.Version = v.Name
	o.Nodes = max(o.Nodes, 1)
	o.TLS = o.TLS || o.Mutual
	o.Deadline = cmp.Or(o.Deadline, r.Deadline, usualDeadline)
	reason := ""
	switch most := r.Largest(v); {
	case o.Nodes > most:
		reason = fmt.Sprintf("a cluster of %d nodes was asked for, at most %d can be started", o.Nodes, most)
	case o.TLS && !r.TLS:
		reason = "TLS was asked for, but it can't be started with TLS"
	case o.Mutual && !r.Mutual:
		reason = "mutual TLS was asked for, but it can't be started so that it demands client certificates"
	case o.Login != nil && !r.Login:
		reason = "a login was asked for, but it can't be started so that it demands one"
	case o.Login != nil && !(plainWord.MatchString(o.Login.User) && plainWord.MatchString(o.Login.Password)):
		reason = "user and password that it is started with must be of letters, digits, - and _"
	}
	if reason != "" {
		return nil, &ErrRefused{Broker: o.Broker, Reason: reason}
	}
	return r, nil
}

// settingName matches the setting names of every product; any other character would end the name in some configuration format.
var settingName = regexp.MustCompile(`^[A-Za-z0-9_.:+/$@*-]*$`)

// plainSettings refuses settings whose text could set other ones, in any format that a recipe writes.
func plainSettings(settings map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		switch value := settings[name].(type) {
		case map[string]any:
			if err := plainSettings(value); err != nil {
				return err
			}
		default:
			if !settingName.MatchString(name) || strings.ContainsFunc(fmt.Sprint(value), unbroken) {
				return &ErrSetting{Name: name, Reason: "name and value must be one line, the name of letters, digits and . : + / $ @ * _ -"}
			}
		}
	}
	return nil
}

// unbroken reports whether r ends a line in some format, or is another control character.
func unbroken(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// clashed reports whether a broker ended because another program took its port between our check and its bind.
func clashed(err error) ([]string, bool) {
	var log []string
	if died, ok := errors.AsType[*ErrDied](err); ok {
		log = died.Log
	} else if notReady, ok := errors.AsType[*ErrNotReady](err); ok {
		log = notReady.Log
	}
	return log, slices.ContainsFunc(log, portClash.MatchString)
}

func (h *Host) startOnce(ctx context.Context, r *Recipe, install string, o Options) (_ *Instance, err error) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, o.Deadline)
	defer cancel()
	in, err := h.create(r, install, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			in.abandon()
		}
	}()
	if err := in.prepare(o); err != nil {
		return nil, err
	}
	for _, n := range in.cluster.Nodes {
		if r.Configure == nil {
			break
		}
		if err := r.Configure(limited, n); err != nil {
			return nil, in.explain(ctx, fmt.Errorf("configure %s: %w", o.Broker, err), began)
		}
	}
	group, all := errgroup.WithContext(limited)
	for _, m := range in.members {
		group.Go(func() error { return m.start(all) })
	}
	if err := group.Wait(); err != nil {
		return nil, in.explain(ctx, err, began)
	}
	if r.Formed != nil {
		formed := func(ctx context.Context) error { return r.Formed(ctx, in.cluster) }
		if err := in.until(limited, 0, in.members, formed); err != nil {
			return nil, in.explain(ctx, err, began)
		}
	}
	if err := in.beginProfiles(limited); err != nil {
		return nil, err
	}
	if err := in.arm(); err != nil {
		return nil, err
	}
	h.log("%s %s is ready after %s", o.Broker, o.Version, time.Since(began).Round(time.Millisecond))
	return in, nil
}

// create makes an instance that has only its directory.
func (h *Host) create(r *Recipe, install string, o Options) (*Instance, error) {
	id := newID(o.Broker)
	user, lock, err := h.takeUser()
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		Recipe: r, ID: id, Version: o.Version, Install: install, Settings: o.Server, Login: o.Login, Facts: map[string]string{},
		host: h, user: user, dir: filepath.Join(h.runs(), id), keep: o.Keep, limits: o.Limits, profiles: o.Profiles,
	}
	in := newInstance(h, c)
	in.deadline, in.user = o.Deadline, lock
	if err = os.Mkdir(c.dir, privateDir); err == nil {
		err = show(c.dir, user)
	}
	if err != nil {
		in.release()
		return nil, fmt.Errorf("make the instance's directory: %w", err)
	}
	return in, nil
}

// prepare makes the nodes' directories, ports and certificates. It first saves which process owns the instance, so that sweepRuns
// can clean up after a crash at any time.
func (in *Instance) prepare(o Options) (err error) {
	c := in.cluster
	if in.held, err = hold(c.dir); err != nil {
		return err
	}
	if err := in.save(); err != nil {
		return err
	}
	v, err := c.Recipe.Version(o.Version)
	if err != nil {
		return err
	}
	names, wanted := slices.Concat(c.Recipe.Ports, v.Ports), o.Ports
	if o.Far != nil {
		names = append(names, c.Recipe.Far)
	}
	for name := range wanted {
		if !slices.Contains(names, name) {
			return &ErrRefused{Broker: c.Recipe.Broker, Reason: fmt.Sprintf("no port is named %q; there are: %s", name, strings.Join(names, ", "))}
		}
	}
	for range o.Nodes {
		taken, err := reservePorts(names, c.Recipe.Beside, wanted)
		if err != nil {
			return err
		}
		n := c.addNode(taken.Numbers)
		in.members = append(in.members, &member{node: n, in: in, ports: taken, expected: true})
		if err := errors.Join(n.make(), n.MakeDir("data"), n.MakeDir(temp)); err != nil {
			return err
		}
		if o.DataInMemory > 0 {
			if err := n.holdInMemory(o.DataInMemory); err != nil {
				return err
			}
		}
		if o.Far != nil {
			if n.Far, err = o.Far(n.At(c.Recipe.Far)); err != nil {
				return err
			}
		}
		wanted = nil // they are for the first node only
	}
	if o.TLS {
		if c.TLS, err = makeTLSFiles(filepath.Join(c.dir, "tls"), c.ID, c.user); err != nil {
			return fmt.Errorf("make certificates: %w", err)
		}
		c.TLS.Mutual = o.Mutual
	}
	return in.save()
}

func newID(broker string) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return "bm-" + broker + "-" + hex.EncodeToString(b[:])
}

// explain turns a failure into one of the documented errors.
func (in *Instance) explain(ctx context.Context, err error, began time.Time) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if died, ok := errors.AsType[*ErrDied](err); ok {
		return died
	}
	if notReady, ok := errors.AsType[*ErrNotReady](err); ok {
		notReady.After = time.Since(began)
		return notReady
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &ErrNotReady{Broker: in.Broker(), After: time.Since(began), Last: err}
	}
	return err
}

// until repeats ask until it succeeds, and gives up at once when one of the members has ended. An *ErrNotReady names the node; 0:
// the cluster.
func (in *Instance) until(ctx context.Context, node int, members []*member, ask func(context.Context) error) error {
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, m := range members {
		go func() {
			_ = m.current().wait(alive)
			cancel()
		}()
	}
	last := probe(alive, ask)
	if last == nil {
		return nil
	}
	for _, m := range members {
		if p := m.current(); p.dead() {
			return m.death(p)
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return &ErrNotReady{Broker: in.Broker(), Node: node, Last: last, Log: members[0].tail(tailLines)}
}

// probe tries until ask succeeds or ctx ends, and returns ask's last error; an attempt that ctx cuts off doesn't count.
func probe(ctx context.Context, ask func(context.Context) error) error {
	var last error
	for wait := probeFirst; ; wait = min(2*wait, probeLast) {
		one, cancel := context.WithTimeout(ctx, probeLimit)
		err := ask(one)
		cancel()
		if err == nil || errors.Is(err, ErrHopeless) {
			return err
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(wait):
		}
	}
}
