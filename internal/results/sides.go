package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// sideMetrics are those of the generator's sides, if its consumers had a process of their own (consumersApart), and of relays.
var sideMetrics = []Metric{
	sideCPU(KeyProducerCPU, "producing CPU", producing),
	sidePercent(KeyProducerCPUUser, "producing CPU, user, % of a core", func(s store.SidesTick) float64 { return s.Producing.User }),
	sidePercent(KeyProducerCPUSystem, "producing CPU, system, % of a core", func(s store.SidesTick) float64 { return s.Producing.System }),
	sideMemory(KeyProducerRSS, "producing memory", producing),
	sideCPU(KeyConsumerCPU, "consuming CPU", consuming),
	sidePercent(KeyConsumerCPUUser, "consuming CPU, user, % of a core", func(s store.SidesTick) float64 { return s.Consuming.User }),
	sidePercent(KeyConsumerCPUSystem, "consuming CPU, system, % of a core", func(s store.SidesTick) float64 { return s.Consuming.System }),
	sideMemory(KeyConsumerRSS, "consuming memory", consuming),
	sideCPU(KeyRelayCPU, "relaying CPU", relaying),
	sideMemory(KeyRelayRSS, "relaying memory", relaying),
}

func relaying(c store.Cost) *store.Side { return c.Relays }

func producing(c store.Cost) *store.Side {
	if c.Sides == nil {
		return nil
	}
	return &c.Sides.Producing
}

func consuming(c store.Cost) *store.Side {
	if c.Sides == nil {
		return nil
	}
	return &c.Sides.Consuming
}

func sideCPU(key, name string, of func(store.Cost) *store.Side) Metric {
	return Metric{Key: key, Name: name, About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower, Of: fromResult(func(r *store.Result) float64 {
		s := of(r.Cost)
		if s == nil || r.Cost.Messages == 0 {
			return math.NaN()
		}
		return r.Cost.PerMillion(s.UserSeconds + s.SystemSeconds)
	})}
}

func sideMemory(key, name string, of func(store.Cost) *store.Side) Metric {
	return Metric{Key: key, Name: name, About: "largest resident set", Unit: unit.Bytes, Better: Lower, Of: fromResult(func(r *store.Result) float64 {
		s := of(r.Cost)
		if s == nil {
			return math.NaN()
		}
		return float64(s.RSSBytes)
	})}
}

// sidePercent is a part of a side's processor time in the measured phase, of one core.
func sidePercent(key, name string, of func(store.SidesTick) float64) Metric {
	return Metric{Key: key, Name: name, Unit: unit.None, Better: Lower, Of: fromResult(func(r *store.Result) float64 {
		if r.Cost.Shares == nil || r.Cost.Shares.Sides == nil {
			return math.NaN()
		}
		return 100 * of(*r.Cost.Shares.Sides)
	})}
}

// hasSides tells that the course of a record knows the generator's sides apart.
func hasSides(r store.Record) bool {
	return r.Result != nil && slices.ContainsFunc(r.Result.Series, func(t store.Tick) bool { return t.Sides != nil })
}

// side reads a figure of the sides. It is NaN before the meters were first read.
func side(of func(store.SidesTick) float64) func(Moment) float64 {
	return func(m Moment) float64 {
		if m.Sides == nil {
			return math.NaN()
		}
		return of(*m.Sides)
	}
}
