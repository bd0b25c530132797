// Package catalog is the register of brokers. All that the program knows of a broker is one value, a Product, which the broker's own
// package adds when the program starts; packages driver, provision and usual get their parts of it.
package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/usual"
)

// Product describes a broker: how clients use it, how it is started, and the defaults of its specs.
type Product struct {
	Name     string            // as specs and commands write it: "kafka"
	Driver   driver.Kind       // Add gives it the product's name
	Recipe   *provision.Recipe // Add gives it the product's name; nil: the broker runs in this process, and nothing is started
	Defaults usual.Defaults
	Tools    []maker.Tool // load generators of the broker's maker; Add says that they drive it
}

var products = map[string]Product{}

// Add registers a broker. It is called from init. It panics if the name is taken or the product is incomplete.
func Add(p Product) {
	p.Driver.Name = p.Name
	driver.Register(p.Driver)
	if p.Recipe != nil {
		r := *p.Recipe
		r.Broker = p.Name
		provision.Register(r)
		p.Recipe = &r
	}
	p.Defaults.Settings = map[string]string{}
	for _, s := range p.Driver.Settings {
		p.Defaults.Settings[s.Path()] = fmt.Sprint(s.Default)
	}
	if p.Driver.Maps != nil {
		p.Defaults.Means = func(g usual.Guarantee) string {
			return strings.ReplaceAll(driver.NativeText(p.Driver.Maps(driver.Guarantee{
				Delivery: driver.Delivery(g.Delivery), Persistence: driver.Persistence(g.Persistence), Acks: driver.Acks(g.Acks),
				Ordering: driver.Ordering(g.Ordering), Replicas: g.Replicas,
			})), "; ", "\n")
		}
	}
	usual.Register(p.Name, p.Defaults)
	for _, t := range p.Tools {
		t.Broker = p.Name
		maker.Register(t)
	}
	products[p.Name] = p
}

// Lookup returns a broker. Its error lists the known names.
func Lookup(name string) (Product, error) {
	p, ok := products[name]
	if !ok {
		return Product{}, fmt.Errorf("unknown broker %q; known: %s", name, strings.Join(Names(), ", "))
	}
	return p, nil
}

// Started returns the recipe of a broker that has processes; false for one that runs in this process, and for an unknown name.
func Started(name string) (*provision.Recipe, bool) {
	r := products[name].Recipe
	return r, r != nil
}

// Names returns the names of all brokers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(products)) }
