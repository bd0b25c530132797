// Package proof writes the study that breaks brokers under load, one for each broker, from what its driver says it
// keeps. It knows nothing of how brokers are broken or how the outcome is judged.
package proof

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/brokermark/brokermark/internal/driver"
)

// Name is the study over every broker; Name/BROKER is that over one.
const Name = "proof"

// OfPipeline is the study that breaks an application around a broker, part by part; Pipeline is its document.
const OfPipeline = Name + "/pipeline"

//go:embed pipeline.yaml
var Pipeline []byte

// Broker is one that the study is written for.
type Broker struct {
	Kind     driver.Kind
	Version  string // "" for the recipe's default
	MaxNodes int    // that can be started here
}

//go:embed study.yaml.tmpl
var text string

var document = template.Must(template.New(Name).Parse(text))

// Write is the study document for brokers.
func Write(name string, brokers ...Broker) ([]byte, error) {
	var sweeps []sweep
	var names []string
	for _, b := range brokers {
		names = append(names, b.Kind.Name)
		sweeps = append(sweeps, b.sweeps()...)
	}
	var out bytes.Buffer
	err := document.Execute(&out, struct {
		Name, Brokers string
		Sweeps        []sweep
	}{name, strings.Join(names, ", "), sweeps})
	if err != nil {
		return nil, fmt.Errorf("write the study %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// sweep is one guarantee of one broker with the faults it is tried by.
type sweep struct {
	Broker    string // name@version
	Guarantee driver.Guarantee
	Nodes     int
	Faults    []fault
	Drain     string
}

// Title tells sweeps apart.
func (s sweep) Title() string {
	g := s.Guarantee
	return fmt.Sprintf("%s %s %s %d", s.Broker, g.Delivery, g.Persistence, g.Replicas)
}

// fault is done 2 s after the start, when the load has found its pace.
type fault struct{ Name, Do, Node, For string }

var (
	pause   = fault{"pause", "pause", "1", "3s"}
	kill    = fault{"kill", "kill", "1", "1s"}
	restart = fault{"restart", "restart", "1", ""}
	leader  = fault{"kill leader", "kill", "leader", "3s"}
)

// sweeps are every delivery with every persistence that the broker keeps, in order, with one copy; and with as many
// copies as it keeps, in the weakest persistence that survives a process. Every delivery is tried by every fault; the
// other persistences only by a kill, since they differ in nothing else.
func (b Broker) sweeps() []sweep {
	var list []sweep
	for _, delivery := range []driver.Delivery{driver.AtMostOnce, driver.AtLeastOnce, driver.ExactlyOnce} {
		faults := []fault{kill, pause, restart}
		for _, persistence := range []driver.Persistence{driver.Log, driver.Fsync, driver.Memory} {
			if g, ok := b.weakest(delivery, persistence, 1); ok {
				list = append(list, b.sweep(g, faults...))
				faults = faults[:1]
			}
		}
	}
	for _, delivery := range []driver.Delivery{driver.AtLeastOnce, driver.ExactlyOnce} {
		if g, ok := b.replicated(delivery); ok {
			list = append(list, b.sweep(g, leader))
		}
	}
	return list
}

func (b Broker) sweep(g driver.Guarantee, faults ...fault) sweep {
	s := sweep{Broker: b.Kind.Name, Guarantee: g, Nodes: b.Kind.Spread(g.Replicas), Faults: faults, Drain: "40s"}
	if b.Version != "" {
		s.Broker += "@" + b.Version
	}
	if g.Persistence == driver.Memory { // what a kill has taken won't come however long it is waited for
		s.Drain = "8s"
	}
	return s
}

// replicated is the guarantee of a quorum of three copies, or of two where the broker has no three; ordered where that is
// kept.
func (b Broker) replicated(delivery driver.Delivery) (driver.Guarantee, bool) {
	for _, copies := range []int{3, 2} {
		for _, ordering := range []driver.Ordering{driver.Ordered, driver.Unordered} {
			for _, persistence := range []driver.Persistence{driver.Log, driver.Fsync, driver.Memory} {
				g := driver.Guarantee{Delivery: delivery, Persistence: persistence, Replicas: copies, Acks: driver.AcksQuorum, Ordering: ordering}
				if b.Kind.Spread(copies) <= b.MaxNodes && b.Kind.Supports(g) == nil {
					return g, true
				}
			}
		}
	}
	return driver.Guarantee{}, false
}

// weakest is the guarantee with the weakest acknowledgement that the broker has for it; ordered where that is kept.
func (b Broker) weakest(delivery driver.Delivery, persistence driver.Persistence, copies int) (driver.Guarantee, bool) {
	for _, ordering := range []driver.Ordering{driver.Ordered, driver.Unordered} {
		for _, acks := range []driver.Acks{driver.AcksNone, driver.AcksLeader, driver.AcksQuorum} {
			g := driver.Guarantee{Delivery: delivery, Persistence: persistence, Replicas: copies, Acks: acks, Ordering: ordering}
			if b.Kind.Supports(g) == nil {
				return g, true
			}
		}
	}
	return driver.Guarantee{}, false
}

// Parse takes a study's name apart: "proof", or "proof/kafka", "proof/kafka@3.9.2".
func Parse(name string) (broker, version string, ok bool) {
	if name == Name {
		return "", "", true
	}
	rest, ok := strings.CutPrefix(name, Name+"/")
	if !ok {
		return "", "", false
	}
	broker, version, _ = strings.Cut(rest, "@")
	return broker, version, broker != ""
}

// Names lists the studies: over all brokers, over a pipeline, over each broker.
func Names(brokers []string) []string {
	names := []string{Name, OfPipeline}
	for _, b := range slices.Sorted(slices.Values(brokers)) {
		names = append(names, Name+"/"+b)
	}
	return names
}
