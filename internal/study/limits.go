package study

import "slices"

const (
	leastCores  = 0.01 // the smallest share of a core that the kernel can enforce
	mostCores   = 10_000
	leastMemory = 4 << 20 // no program can start with less

	leastInMemory = 16 << 20 // a segment of a broker
)

// partBroker names the broker's nodes in limits; faults name them by number.
const partBroker = "broker"

// PartLimit is the limit of a part, with the part's name in settings.
type PartLimit struct {
	Part string
	Limit
}

// Each lists the limits that are set.
func (l Limits) Each() []PartLimit {
	all := []PartLimit{{partBroker, l.Broker}, {PartServer, l.Server}, {PartBalancer, l.Balancer}, {PartConsumer, l.Consumer}}
	return slices.DeleteFunc(all, func(p PartLimit) bool { return p.Limit == Limit{} })
}

// limits checks each limit, and that its part exists.
func (v *validator) limits() {
	s := v.spec
	switch {
	case s.DataInMemory != 0 && len(s.Attach) > 0:
		v.fail("dataInMemory", "%s", s.lacks(partBroker))
	case s.DataInMemory != 0 && s.DataInMemory < leastInMemory:
		v.fail("dataInMemory", "%s is too little; allowed: %s and more", bytesText(s.DataInMemory), Size(leastInMemory))
	}
	for _, l := range s.Limits.Each() {
		path := "limits." + l.Part
		if l.CPU != 0 {
			v.share(path+".cpu", l.CPU, leastCores, closed)
		}
		if l.Memory != 0 && l.Memory < leastMemory {
			v.fail(path+".memory", "%s is too little to start with; allowed: %s and more", bytesText(l.Memory), Size(leastMemory))
		}
		if l.IO != 0 && l.IO < leastBandwidth {
			v.fail(path+".io", "%s is too little; allowed: %s per second and more", bytesText(l.IO), Size(leastBandwidth))
		}
		if why := s.lacks(l.Part); why != "" {
			v.fail(path, "%s", why)
		}
	}
}

// lacks says why a part is no process started by the run; empty if it is one.
func (s Spec) lacks(part string) string {
	switch {
	case part == partBroker && len(s.Attach) > 0:
		return "can't be combined with attach: that broker was not started here"
	case part == PartServer && s.Pipeline == nil:
		return "there are no servers; allowed with pipeline"
	case part == PartBalancer && (s.Pipeline == nil || s.Pipeline.Balancer == none):
		return "there is no balancer; allowed with a pipeline that has one"
	case part == PartConsumer && s.Pipeline == nil && !s.ConsumersApart:
		return "the consumers are no process of their own; allowed with consumersApart: true, or a pipeline"
	}
	return ""
}

// leastBandwidth carries one message of the usual size within some seconds.
const leastBandwidth = 1000

// PartPath is a network path, with its name in settings.
type PartPath struct {
	Part string
	Path
}

// PathClient is the path between a pipeline's client and the server or balancer; PathBroker is the path between the broker and
// its clients.
const (
	PathBroker = "broker"
	PathClient = "client"
)

// Each lists the paths that are slowed.
func (n Network) Each() []PartPath {
	all := []PartPath{{PathBroker, n.Broker}, {PathClient, n.Client}}
	return slices.DeleteFunc(all, func(p PartPath) bool { return p.Path == Path{} })
}

// network checks each path, and that it exists.
func (v *validator) network() {
	s := v.spec
	for _, p := range s.Network.Each() {
		path := "network." + p.Part
		v.time(path+".delay", p.Delay, closed)
		v.time(path+".jitter", p.Jitter, closed)
		if p.Bandwidth != 0 && p.Bandwidth < leastBandwidth {
			v.fail(path+".bandwidth", "%s is too little; allowed: %s per second and more", bytesText(p.Bandwidth), Size(leastBandwidth))
		}
		switch {
		case p.Part == PathClient && s.Pipeline == nil:
			v.fail(path, "there is no client apart; allowed with pipeline")
		case p.Part == PathBroker && len(s.Attach) > 0:
			v.fail(path, "can't be combined with attach: that broker was not started here")
		}
	}
}
