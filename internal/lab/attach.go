package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// attach records what can be known of a broker that somebody else started: how it describes itself, and which of
// its processes can be metered. It fails if the broker can't be reached. The record gets a doubt like this:
//
//	the broker was not started here, it calls itself Redpanda 25.2.1: its cost is not known; what else it does is
//	not known, nor are its settings
func (b *bench) attach(ctx context.Context, c driver.Config, recipe *provision.Recipe) error {
	described, err := b.describe(ctx, c)
	if _, unreachable := errors.AsType[errStart](err); unreachable {
		return err
	}
	b.record.Versions.Broker = cmp.Or(described.Version, b.spec.Version)
	b.record.Versions.Product = described.Product
	b.record.Settings.Server = described.Settings
	if wrong := checkVersion(b.spec.Version, described, err); wrong != nil {
		return wrong
	}
	if err := b.note(); err != nil {
		return err
	}
	if described.Version != "" {
		if version, err := recipe.Version(described.Version); err == nil { // a version that the recipe knows
			b.doubtVersion(version)
		}
	}
	who := "the broker was not started here"
	if name := strings.TrimSpace(described.Product + " " + described.Version); name != "" {
		who += ", it calls itself " + name
	}
	settings := ""
	switch {
	case described.Settings == nil && err != nil:
		settings = fmt.Sprintf(", nor are its settings (%v)", err)
	case described.Settings == nil:
		settings = ", nor are its settings"
	case err != nil:
		settings = fmt.Sprintf(", nor are all of its settings (%v)", err)
	}
	cost := b.meters.costClause(b.meterAttached(ctx))
	b.doubt(doubt.Attached, "%s: %s; what else it does is not known%s", who, cost, settings)
	return nil
}

// note records what the repetition will create on the attached broker, and doubts the figures if killed runs left anything there.
func (b *bench) note() (err error) {
	h := b.lab.options.Host
	if h == nil {
		return nil
	}
	for _, l := range provision.LeftBehind(h.Dir) {
		if slices.ContainsFunc(l.Addresses, func(address string) bool { return slices.Contains(b.spec.Attach, address) }) {
			b.doubt(doubt.UncleanClose, "what was left on the broker may burden it: %s", l.String())
		}
	}
	prefix := strings.TrimSuffix(b.topicName(0), "0000")
	if b.broker.left, err = h.Note(provision.Left{Broker: b.spec.Broker, Addresses: b.spec.Attach, Topics: prefix, Topic: b.spec.TopicName}); err != nil {
		return fmt.Errorf("note what is made on the attached broker: %w", err)
	}
	return nil
}

// endNote takes the note back, unless something is left.
func (b *bench) endNote() {
	switch {
	case b.broker.left == nil:
	case b.broker.unclean:
		_ = b.broker.left.Stays()
	default:
		_ = b.broker.left.Gone() // after an error a stale note remains
	}
}

// checkVersion refuses a point that is about another version than that of the attached broker. A version fits if the broker's number begins
// with it: 4 fits 4.1, 1 does not. An empty one fits every broker. asking is why the broker could not be asked; nil if it could.
func checkVersion(want string, attached driver.Description, asking error) error {
	number := strings.TrimPrefix(attached.Version, "at least ")
	switch {
	case want == "" || number == want || strings.HasPrefix(number, want+"."):
		return nil
	case number == "" && asking != nil:
		return fmt.Errorf("version: %s: the attached broker could not be asked for its version: %w", want, asking)
	case number == "":
		return driver.Unsupported("version: "+want, "the attached broker does not say which version it is")
	}
	return driver.Unsupported("version: "+want, "the attached broker is %s", strings.TrimSpace(attached.Product+" "+attached.Version))
}

// describe asks the broker how it describes itself. The error is an errStart if the broker can't be reached; after any
// other error, the description lacks what the broker could not be asked. Its Settings are nil if the broker reports
// none.
func (b *bench) describe(ctx context.Context, c driver.Config) (driver.Description, error) {
	kind, err := driver.Lookup(b.spec.Broker)
	if err != nil {
		return driver.Description{}, err
	}
	const timeout = 15 * time.Second // of connecting and asking
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := kind.Open(ctx, c)
	if _, unreachable := errors.AsType[*driver.ErrConnect](err); unreachable {
		return driver.Description{}, errStart{cause: err}
	}
	if err != nil { // not fatal here: the clients that the load needs will fail as well, and report it
		return driver.Description{}, err
	}
	defer func() { _ = client.Close() }() // the answer is not worth less if closing fails
	if describer, ok := client.(driver.Describer); ok {
		return describer.Describe(ctx)
	}
	return driver.Description{}, nil
}

// meterAttached sets the meters of the attached broker's processes: agents on its machines come first, then this
// process for those on this machine. It returns the addresses that are not metered.
func (b *bench) meterAttached(ctx context.Context) (unmetered []provision.Missing) {
	const timeout = 5 * time.Second // of resolving the addresses
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, addresses := &b.meters, slices.Clone(b.spec.Attach)
	m.remote = b.lab.options.Meters(ctx, addresses)
	for _, r := range m.remote {
		addresses = slices.DeleteFunc(addresses, func(address string) bool { return slices.Contains(r.Facts().Serves, address) })
	}
	local, unmetered := provision.Find(ctx, addresses)
	if local != nil { // a nil *provision.Foreign in m.local, an interface, would not count as nil
		m.local = local
	}
	m.complete = (m.local != nil || len(m.remote) > 0) && len(unmetered) == 0
	m.hidden = slices.ContainsFunc(unmetered, func(missing provision.Missing) bool { return missing.Here })
	return unmetered
}

// costClause returns the part of a sentence that says what is known of an attached broker's cost: "its cost is not
// known". unmetered are the addresses that are not metered.
func (m *meters) costClause(unmetered []provision.Missing) string {
	var metered []string
	if m.local != nil {
		metered = append(metered, fmt.Sprintf("that listen here (%s)", m.local))
	}
	if len(m.remote) > 0 {
		metered = append(metered, fmt.Sprintf("that agents meter (%s)", m.remote))
	}
	if m.complete {
		return "its cost is that of the processes " + strings.Join(metered, " and of those ")
	}
	for _, missing := range unmetered {
		if missing.Here {
			return fmt.Sprintf("its cost is not known: the process that serves %s was not found (%s), so the use of other processes may be the broker's",
				missing.Address, missing.Why)
		}
	}
	if len(metered) > 0 { // so it is incomplete because of an unmetered address
		return fmt.Sprintf("its cost is not known, since no agent meters %s (%s)", unmetered[0].Address, unmetered[0].Why)
	}
	return "its cost is not known"
}
