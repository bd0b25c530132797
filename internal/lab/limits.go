package lab

import (
	"fmt"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/network"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// A spec may bound what the broker's nodes, and other processes that are started here, use of cores, memory and disk. Package provision holds
// each process to its limit.

func limitsOf(l study.Limit) provision.Limits {
	return provision.Limits{CPU: l.CPU, Memory: int64(l.Memory), IO: int64(l.IO)}
}

// checkLimits refuses limits that this machine can't keep.
func checkLimits(s study.Spec) error {
	for _, l := range s.Limits.Each() {
		if err := provision.CanLimit(limitsOf(l.Limit)); err != nil {
			return driver.Unsupported("limits."+l.Part, "%v", err)
		}
	}
	if _, hasProcesses := catalog.Started(s.Broker); s.DataInMemory > 0 {
		if !hasProcesses {
			return driver.Unsupported("dataInMemory", "%s has no data but in this process", s.Broker)
		}
		if err := provision.CanHoldInMemory(int64(s.DataInMemory) * int64(s.Nodes)); err != nil {
			return driver.Unsupported("dataInMemory", "%v", err)
		}
	}
	return nil
}

// noteLimits adds a doubt that names the limits under which the figures were measured.
func (b *bench) noteLimits() {
	var parts []string
	for _, l := range b.spec.Limits.Each() {
		parts = append(parts, fmt.Sprintf("%s %s", l.Part, limitsOf(l.Limit)))
	}
	var texts []string
	if len(parts) > 0 {
		texts = append(texts, "the spec's limits held each process to: "+strings.Join(parts, "; "))
	}
	if b.spec.DataInMemory > 0 {
		texts = append(texts, fmt.Sprintf("the broker's data were in memory and not on the disk, at most %s of each node", b.spec.DataInMemory))
	}
	if len(texts) > 0 {
		b.doubt(doubt.Limits, "%s", strings.Join(texts, "; "))
	}
}

// cpuLimit returns how many cores all nodes of the broker may use together; 0 if the spec has no limit.
func (b *bench) cpuLimit() float64 { return b.spec.Limits.Broker.CPU * float64(b.spec.Nodes) }

// reachedCPULimit reports whether the broker used up the cores that its limit leaves it.
func (b *bench) reachedCPULimit(t trial) bool {
	return b.cpuLimit() > 0 && t.Cost.BrokerKnown && t.Cost.Shares != nil && t.Cost.Shares.Broker > usedUpShare*b.cpuLimit()
}

// A spec may slow the network between parts. Proxies in this process do that: clients are told their addresses instead of the broker's, or
// the balancer's. What they cost counts as the generator's.

// checkNetwork refuses a network before a broker that tells its clients its own address, which bypasses the proxy.
func checkNetwork(s study.Spec) error {
	if s.Network.Broker == (study.Path{}) {
		return nil
	}
	recipe, hasProcesses := catalog.Started(s.Broker)
	switch {
	case !hasProcesses:
		return driver.Unsupported("network.broker", "%s runs in this process, without a network", s.Broker)
	case recipe.Far != "":
	case s.Nodes > 1:
		return driver.Unsupported("network.broker", "%d nodes of %s may tell clients each other's addresses, which bypass the proxy", s.Nodes, s.Broker)
	case !recipe.AnyAddress:
		return driver.Unsupported("network.broker", "%s may tell clients its own address, which bypasses the proxy", s.Broker)
	}
	return nil
}

// tellsProxies reports whether a point's broker, which is started here, tells its clients the addresses of the point's proxies.
func tellsProxies(s study.Spec) bool {
	recipe, hasProcesses := catalog.Started(s.Broker)
	return hasProcesses && recipe.Far != "" && s.Network.Broker != (study.Path{})
}

// slowBroker puts a proxy before each of the broker's addresses, and that of the proxy in its place, if the spec asks for it.
func (b *bench) slowBroker(addresses []string) (err error) {
	for i, address := range addresses {
		if addresses[i], err = b.slowed(address, b.spec.Network.Broker); err != nil {
			return err
		}
	}
	return nil
}

// slowed returns the address of a proxy to an address, which is closed with the bench; the address itself if the path slows nothing.
func (b *bench) slowed(address string, path study.Path) (string, error) {
	if path == (study.Path{}) {
		return address, nil
	}
	p, err := network.Listen(address, network.Path{
		Delay: time.Duration(path.Delay), Jitter: time.Duration(path.Jitter), Bandwidth: int64(path.Bandwidth),
	})
	if err != nil {
		return "", errStart{cause: fmt.Errorf("start the proxy to %s: %w", address, err)}
	}
	b.broker.proxies = append(b.broker.proxies, p)
	return p.Addr(), nil
}

// noteNetwork adds a doubt that names the network over which the figures were measured.
func (b *bench) noteNetwork() {
	var parts []string
	for _, p := range b.spec.Network.Each() {
		var slows []string
		if p.Delay > 0 {
			slows = append(slows, fmt.Sprintf("%s later each way", p.Delay))
		}
		if p.Jitter > 0 {
			slows = append(slows, fmt.Sprintf("up to %s more at random", p.Jitter))
		}
		if p.Bandwidth > 0 {
			slows = append(slows, fmt.Sprintf("%s/s of each connection each way", p.Bandwidth))
		}
		parts = append(parts, p.Part+" "+strings.Join(slows, ", "))
	}
	if len(parts) > 0 {
		b.doubt(doubt.Network, "a proxy in the generator's process, whose cost is part of the generator's, stood before: %s", strings.Join(parts, "; "))
	}
}
