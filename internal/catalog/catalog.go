// Package catalog is the register of brokers: what a broker is to this program stands in one value, under one name.
package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/usual"
)

// Product is a broker: how it is driven, how it is started, and what a spec asks of it when it doesn't say.
type Product struct {
	Name     string            // as specs and commands have it
	Driver   driver.Kind       // Add gives it the product's name
	Recipe   *provision.Recipe // likewise; nil: the broker runs in this process, and nothing is started
	Defaults usual.Defaults
}

var products = map[string]Product{}

// Add registers a broker; call it from init. It panics on a name that is taken and on what is incomplete.
func Add(p Product) {
	p.Driver.Name = p.Name
	driver.Register(p.Driver)
	if p.Recipe != nil {
		r := *p.Recipe
		r.Broker = p.Name
		provision.Register(r)
		p.Recipe = &r
	}
	usual.Register(p.Name, p.Defaults)
	products[p.Name] = p
}

// Lookup finds a broker; an unknown name is answered with the names there are.
func Lookup(name string) (Product, error) {
	p, ok := products[name]
	if !ok {
		return Product{}, fmt.Errorf("unknown broker %q; known: %s", name, strings.Join(Names(), ", "))
	}
	return p, nil
}

// Started finds a broker that can be started here; false for one that runs in this process, and for an unknown name.
func Started(name string) (*provision.Recipe, bool) {
	r := products[name].Recipe
	return r, r != nil
}

// Names lists all brokers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(products)) }
