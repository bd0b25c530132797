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

// attach records what can be known of a broker that somebody else started: how the broker describes itself, and which processes
// can be metered. It fails if the broker can't be reached.
func (b *bench) attach(ctx context.Context, c driver.Config, recipe *provision.Recipe) error {
	described, missing, err := b.describe(ctx, c)
	if err != nil {
		return err
	}
	b.record.Versions.Broker = cmp.Or(described.Version, b.spec.Version)
	b.record.Versions.Product = described.Product
	b.record.Settings.Server = described.Settings
	if described.Version != "" {
		if version, err := recipe.Version(described.Version); err == nil { // not every version is known to the recipe
			b.doubtVersion(version)
		}
	}
	name := strings.TrimSpace(described.Product + " " + described.Version)
	if name != "" {
		name = ", it calls itself " + name
	}
	cost := b.findMeters(ctx)
	b.doubt("attached", "the broker was not started here%s: %s; what else it does is not known%s", name, cost, missing)
	return nil
}

// describeTimeout bounds connecting to an attached broker and asking how it describes itself.
const describeTimeout = 15 * time.Second

// describe asks the broker how it describes itself. missing is a clause about settings that it does not report; empty if it
// reports all.
func (b *bench) describe(ctx context.Context, c driver.Config) (d driver.Description, missing string, err error) {
	kind, err := driver.Lookup(b.spec.Broker)
	if err != nil {
		return d, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	client, err := kind.Open(ctx, c)
	switch {
	case errors.As(err, new(*driver.ErrConnect)):
		return d, "", errStart{err}
	case err != nil:
		return d, "", nil // the agent's own clients will fail as well, and report it
	}
	defer func() { _ = client.Close() }() // the answer is not worth less if closing fails
	describer, ok := client.(driver.Describer)
	if !ok {
		return d, ", nor are its settings", nil
	}
	d, err = describer.Describe(ctx)
	switch {
	case err != nil:
		missing = fmt.Sprintf(", nor are all of its settings (%v)", err)
	case d.Settings == nil:
		missing = ", nor are its settings"
	}
	return d, missing, nil
}

// findTimeout bounds resolving the addresses of an attached broker.
const findTimeout = 5 * time.Second

// findMeters looks for meters of the attached broker's processes: agents on its machines first, then this process for those on
// this machine. It returns a clause about what is known of the broker's cost.
func (b *bench) findMeters(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	unmetered := slices.Clone(b.spec.Attach)
	if b.lab.Meters != nil {
		b.meters.remote = b.lab.Meters(ctx, unmetered)
		for _, m := range b.meters.remote {
			unmetered = slices.DeleteFunc(unmetered, func(address string) bool { return slices.Contains(m.Facts().Serves, address) })
		}
	}
	local, missing := provision.Find(ctx, unmetered)
	var metered []string
	if local != nil {
		b.meters.local = local
		metered = append(metered, fmt.Sprintf("that listen here (%s)", local))
	}
	if len(b.meters.remote) > 0 {
		metered = append(metered, fmt.Sprintf("that agents meter (%s)", b.meters.remote))
	}
	hidden := slices.IndexFunc(missing, func(a provision.Missing) bool { return a.Here })
	b.meters.complete, b.meters.hidden = len(metered) > 0 && len(missing) == 0, hidden >= 0
	switch {
	case b.meters.complete:
		return "its cost is that of the processes " + strings.Join(metered, " and of those ")
	case b.meters.hidden:
		return fmt.Sprintf("its cost is not known, since who serves %s can't be told (%s), so what other processes use may be the broker's",
			missing[hidden].Address, missing[hidden].Why)
	case len(metered) > 0:
		return fmt.Sprintf("its cost is not known, since nobody meters %s (%s)", missing[0].Address, missing[0].Why)
	}
	return "its cost is not known"
}
