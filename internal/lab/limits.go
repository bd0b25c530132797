package lab

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
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

// noteLimits says of the record's figures under which limits they came about.
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
