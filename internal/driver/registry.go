package driver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

var kinds = map[string]Kind{}

// Register adds a driver; call it from init. It panics on a duplicate name or an incomplete kind.
func Register(k Kind) {
	if k.Name == "" || k.Open == nil || k.Supports == nil {
		panic(fmt.Sprintf("driver: incomplete kind %q", k.Name))
	}
	if _, dup := kinds[k.Name]; dup {
		panic("driver: registered twice: " + k.Name)
	}
	kinds[k.Name] = k
}

// Lookup finds a registered driver; an unknown name is answered with the names there are.
func Lookup(name string) (Kind, error) {
	k, ok := kinds[name]
	if !ok {
		return Kind{}, fmt.Errorf("unknown broker %q; known: %s", name, strings.Join(Names(), ", "))
	}
	return k, nil
}

// Names lists the registered drivers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }
