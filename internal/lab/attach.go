package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// attach records what can be known of a broker that somebody else started: how it describes itself, and which of
// its processes can be metered. It fails if the broker can't be reached. The record gets a doubt like this:
//
//	the broker was not started here, it calls itself Redpanda 25.2.1: its cost is not known; what else it does is
//	not known, nor are its settings
func (b *bench) attach(ctx context.Context, c driver.Config, recipe *provision.Recipe) error {
	described, unreported, err := b.describe(ctx, c)
	if err != nil {
		return err
	}
	b.record.Versions.Broker = cmp.Or(described.Version, b.spec.Version)
	b.record.Versions.Product = described.Product
	b.record.Settings.Server = described.Settings
	if described.Version != "" {
		if version, err := recipe.Version(described.Version); err == nil { // a version that the recipe knows
			b.doubtVersion(version)
		}
	}
	name := strings.TrimSpace(described.Product + " " + described.Version)
	if name != "" {
		name = ", it calls itself " + name
	}
	missing := b.findMeters(ctx)
	cost := b.meters.knownCost(missing)
	b.doubt("attached", "the broker was not started here%s: %s; what else it does is not known%s", name, cost, unreported)
	return nil
}

// describe asks the broker how it describes itself. unreported is a clause about settings that it does not report;
// empty if it reports all.
func (b *bench) describe(ctx context.Context, c driver.Config) (d driver.Description, unreported string, err error) {
	kind, err := driver.Lookup(b.spec.Broker)
	if err != nil {
		return d, "", err
	}
	const timeout = 15 * time.Second // of connecting and asking
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := kind.Open(ctx, c)
	switch {
	case errors.As(err, new(*driver.ErrConnect)):
		return d, "", errStart{cause: err}
	case err != nil:
		return d, fmt.Sprintf(", nor are its settings (%v)", err), nil // if the agent's clients fail as well, they report it
	}
	defer func() { _ = client.Close() }() // the answer is not worth less if closing fails
	describer, ok := client.(driver.Describer)
	if !ok {
		return d, ", nor are its settings", nil
	}
	d, err = describer.Describe(ctx)
	switch {
	case err != nil:
		unreported = fmt.Sprintf(", nor are all of its settings (%v)", err)
	case d.Settings == nil:
		unreported = ", nor are its settings"
	}
	return d, unreported, nil
}

// findMeters looks for meters of the attached broker's processes and sets b.meters: agents on its machines come
// first, then this process for those on this machine. It returns the addresses that nobody meters.
func (b *bench) findMeters(ctx context.Context) []provision.Missing {
	const timeout = 5 * time.Second // of resolving the addresses
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, addresses := &b.meters, slices.Clone(b.spec.Attach)
	m.remote = b.lab.options.Meters(ctx, addresses)
	for _, r := range m.remote {
		addresses = slices.DeleteFunc(addresses, func(address string) bool { return slices.Contains(r.Facts().Serves, address) })
	}
	local, missing := provision.Find(ctx, addresses)
	if local != nil {
		m.local = local
	}
	m.complete = (m.local != nil || len(m.remote) > 0) && len(missing) == 0
	m.hidden = slices.ContainsFunc(missing, func(address provision.Missing) bool { return address.Here })
	return missing
}

// knownCost returns a clause about what is known of an attached broker's cost. missing are the addresses that
// nobody meters.
func (m *meters) knownCost(missing []provision.Missing) string {
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
	for _, address := range missing {
		if address.Here {
			return fmt.Sprintf("its cost is not known, since who serves %s can't be told (%s), so what other processes use may be the broker's",
				address.Address, address.Why)
		}
	}
	if len(metered) > 0 {
		return fmt.Sprintf("its cost is not known, since nobody meters %s (%s)", missing[0].Address, missing[0].Why)
	}
	return "its cost is not known"
}
