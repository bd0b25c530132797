package study

import "slices"

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
