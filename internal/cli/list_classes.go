package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/driver"
)

// settingsByClass sets the defaults of all brokers side by side, with the principle that decides about each class
// (decision 043).
func settingsByClass(args []string) (document.Document, error) {
	if len(args) > 0 {
		return document.Document{}, badInput("--by-class shows all brokers; it takes no BROKER")
	}
	d := document.Document{Title: "Defaults side by side"}
	for _, class := range driver.Classes {
		err := addClass(&d, string(class), class.Principle(), func(p catalog.Product) string { return ofClass(p.Driver, class) })
		if err != nil {
			return d, err
		}
	}
	err := addClass(&d, "memory and collector of the broker", "Memory and collector are those of the product's own start script; where that differs, its page in brokers/ says why.", func(p catalog.Product) string {
		return cmp.Or(p.Recipe.Memory, "no bound of its own")
	})
	return d, err
}

func addClass(d *document.Document, name, principle string, of func(catalog.Product) string) error {
	d.Add(document.Heading{Level: 1, Text: strings.ToUpper(name[:1]) + name[1:]})
	d.Say(principle)
	t := document.Table{Columns: []document.Column{
		{Key: "class", MachinesOnly: true}, {Key: "broker", Name: "broker", Identifies: true}, {Key: "defaults", Name: "defaults", Wide: true},
	}}
	for _, broker := range catalog.Names() {
		p, err := catalog.Lookup(broker)
		if err != nil {
			return err
		}
		if p.Recipe != nil { // a broker, no model of one
			t.Rows = append(t.Rows, document.Row{"class": document.Text(name), "broker": document.Text(broker), "defaults": document.Text(of(p))})
		}
	}
	d.Add(t)
	return nil
}

// ofClass are the settings of a class with their defaults, or what the driver says where it has none.
func ofClass(k driver.Kind, class driver.Class) string {
	var all []string
	for _, s := range k.Settings {
		if s.Class == class {
			all = append(all, fmt.Sprintf("%s %v", s.Name, s.Default))
		}
	}
	if why := k.Without[class]; why != "" {
		all = append(all, why)
	}
	return strings.Join(all, "; ")
}
