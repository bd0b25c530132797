package lab

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// fakeMeter is a meter whose counters rise by so much in each nanosecond.
type fakeMeter struct {
	name    string
	cpu     int64
	flushes int64 // -1: not counted
	lost    error
}

func (g fakeMeter) Facts() agent.MeterFacts {
	return agent.MeterFacts{Name: g.name, Processes: "java, process 7", Serves: []string{g.name + ":9092"}, Bound: 5}
}

func (g fakeMeter) Begin(context.Context) error { return nil }

func (g fakeMeter) Latest() agent.Metered { return agent.Metered{} }

func (g fakeMeter) At(_ context.Context, times ...int64) (list []agent.Metered, err error) {
	for _, at := range times {
		m := agent.Metered{Used: provision.Usage{User: time.Duration(at * g.cpu), RSSBytes: 100, Disk: provision.Disk{DiskWriteBytes: at}}, Flushes: at * g.flushes}
		if g.flushes < 0 {
			m.Flushes = -1
		}
		list = append(list, m)
	}
	return list, g.lost
}

// metered returns a trial of three readings, with its cost, of a broker that agents meter.
func metered(t *testing.T, here []agent.Metered, list ...agent.Meter) (trial, *bench) {
	t.Helper()
	b := &bench{lab: &lab{options: Options{}.withDefaults()}, meters: meters{remote: list, complete: true}, record: &store.Record{}, spec: study.Defaults()}
	m := &metering{bench: b}
	var tr trial
	at := func(ns int64) fullReading { return fullReading{reading: reading{at: ns, here: here}} }
	begin, until, end := at(1e9), at(2e9), at(3e9)
	tr.Doubts = m.completeReadings(t.Context(), &begin.reading, &until.reading, &end.reading)
	tr.Cost = m.cost(begin, end, worker.Outcome{})
	return tr, b
}

func TestMetersOfSeveralHostsAddUp(t *testing.T) {
	tr, b := metered(t, nil, fakeMeter{name: "a", cpu: 1, flushes: 2}, fakeMeter{name: "b", cpu: 3, flushes: 1})
	if c := tr.Cost; !c.BrokerKnown || c.BrokerUserSeconds != 8 || c.BrokerDiskWriteBytes != 4e9 || c.BrokerFlushes == nil || *c.BrokerFlushes != 6e9 {
		t.Errorf("%+v", c)
	}
	if len(b.record.Meters) != 2 || b.record.Meters[1].Name != "b" || b.record.Meters[1].Addresses[0] != "b:9092" || b.record.Meters[1].ClockBoundNs != 5 || len(tr.Doubts) > 0 {
		t.Errorf("%+v, %+v", b.record.Meters, tr.Doubts)
	}
	still := []agent.Metered{{Used: provision.Usage{User: time.Hour, Disk: provision.Disk{DiskWriteBytes: 5}}, Flushes: 1}} // a node on this machine
	if tr, _ = metered(t, still, fakeMeter{name: "a", cpu: 1, flushes: 2}); tr.Cost.BrokerUserSeconds != 2 || *tr.Cost.BrokerFlushes != 4e9 {
		t.Errorf("%+v", tr.Cost)
	}
	if tr, _ = metered(t, nil, fakeMeter{name: "a", cpu: 1, flushes: 2}, fakeMeter{name: "b", cpu: 1, flushes: -1}); tr.Cost.BrokerFlushes != nil || !tr.Cost.BrokerKnown {
		t.Errorf("flushes that one host doesn't count: %+v", tr.Cost)
	}
}

// silentMeter never answers what its processes had used.
type silentMeter struct{ fakeMeter }

func (silentMeter) At(ctx context.Context, _ ...int64) ([]agent.Metered, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAnInterruptedRunWaitsForNoMeter(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if _, err := (remoteMeters{silentMeter{}}).readAt(interrupted, []int64{1}); !errors.Is(err, context.Canceled) || time.Since(began) > time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

func TestALostMeterIsADoubtAndLeavesTheCostUnknown(t *testing.T) {
	tr, b := metered(t, nil, fakeMeter{name: "a", cpu: 1}, fakeMeter{name: "b", cpu: 3, lost: errors.New("agent b was lost: it was not heard for 4.1s")})
	if tr.Cost.BrokerKnown || tr.Cost.BrokerUserSeconds != 0 || len(tr.Doubts) != 1 || tr.Doubts[0].Code != "meter-lost" ||
		!strings.Contains(tr.Doubts[0].Text, "what the broker cost is not known: agent b was lost") || len(b.record.Meters) != 0 {
		t.Errorf("%+v, %+v", tr.Cost, tr.Doubts)
	}
}
