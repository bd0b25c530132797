package driver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

var kinds = map[string]Kind{}

// Register adds a driver; it is called from init. It panics on a duplicate name or an incomplete kind.
func Register(k Kind) {
	if k.Name == "" || k.Open == nil || k.Supports == nil {
		panic(fmt.Sprintf("driver: incomplete kind %q", k.Name))
	}
	if _, dup := kinds[k.Name]; dup {
		panic("driver: registered twice: " + k.Name)
	}
	open := k.Open
	k.Open = func(ctx context.Context, c Config) (Driver, error) {
		if err := k.opens(c); err != nil {
			return nil, err
		}
		return open(ctx, c)
	}
	kinds[k.Name] = k
}

// opens refuses a config that needs neither a connection nor the shape of topics to be refused.
func (k Kind) opens(c Config) error {
	if err := cmp.Or(k.letsIn(c.Target.Login), k.Supports(c.Guarantee)); err != nil || k.Fits == nil {
		return err
	}
	return k.Fits(c, Shape{})
}

// Lookup finds a registered driver; the error for an unknown name lists the registered ones.
func Lookup(name string) (Kind, error) {
	k, ok := kinds[name]
	if !ok {
		return Kind{}, fmt.Errorf("unknown broker %q; known: %s", name, strings.Join(Names(), ", "))
	}
	return k, nil
}

// Names lists the registered drivers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }
