package study

import "slices"

// leastBandwidth is what one message of the usual size needs within some seconds.
const leastBandwidth = 1000

// PartPath is a path, by the name that settings have for it.
type PartPath struct {
	Part string
	Path
}

// PathClient is the path between a pipeline's client and what it posts to; PathBroker that between the broker and its clients.
const (
	PathBroker = "broker"
	PathClient = "client"
)

// Each lists the paths that slow something.
func (n Network) Each() []PartPath {
	all := []PartPath{{PathBroker, n.Broker}, {PathClient, n.Client}}
	return slices.DeleteFunc(all, func(p PartPath) bool { return p.Path == Path{} })
}

// network checks that each path is one that there is.
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
			v.fail(path, "can't be had with attach: that broker was not started here")
		}
	}
}
