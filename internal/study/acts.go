package study

import (
	"cmp"
	"slices"
	"time"
)

// Act is one action of a fault on its nodes.
type Act struct {
	At   time.Duration // from the start of the measured phase
	Do   string        // pause | resume | kill | restart
	Node string        // as the spec names it: a number, "leader", "all", or a part of a pipeline
	// Implied is set if the spec does not list the act: it ends a fault with a duration.
	Implied bool
	// Ends is the pause or kill that this act ends; nil if it begins a fault, or restarts a running node.
	Ends *Act
}

// endOf names the act that ends a fault.
var endOf = map[string]string{"pause": "resume", "kill": "restart"}

// Acts returns faults as acts, by time. A fault with a duration has two: {at: 10s, do: pause, for: 3s} is a pause at 10 s and a
// resume at 13 s. A resume or restart in the spec ends the last pause or kill of the same node before it that is still open; that
// fault then doesn't end again after its duration.
func Acts(faults []Fault) []*Act {
	var all []*Act
	for _, f := range faults {
		begin := &Act{At: time.Duration(f.At), Do: f.Do, Node: f.Node}
		all = append(all, begin)
		if f.For > 0 {
			all = append(all, &Act{At: time.Duration(f.At + f.For), Do: endOf[f.Do], Node: f.Node, Implied: true, Ends: begin})
		}
	}
	slices.SortStableFunc(all, func(a, b *Act) int { return cmp.Compare(a.At, b.At) })
	ended := map[*Act]bool{}
	var acts []*Act
	for _, a := range all {
		switch {
		case ended[a.Ends]: // by a listed act
			continue
		case a.Ends == nil:
			a.Ends = a.lastOpen(acts, ended) // nil if a begins a fault
		}
		if a.Ends != nil {
			ended[a.Ends] = true
		}
		acts = append(acts, a)
	}
	return acts
}

// lastOpen returns the last of the earlier acts that a can end and that nothing has ended yet; nil if there is none.
func (a *Act) lastOpen(earlier []*Act, ended map[*Act]bool) *Act {
	for _, e := range slices.Backward(earlier) {
		if endOf[e.Do] == a.Do && e.Node == a.Node && !ended[e] {
			return e
		}
	}
	return nil
}
