// Package advise answers which of several brokers to take for a workload: it writes the study that measures them, says which of its
// repetitions are worth their time, and judges the records. It starts nothing, and knows no broker by name.
package advise

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// Parts of the study, which are its sweeps.
const (
	Load     = "load"     // the user's rate, and the peak
	Kill     = "kill"     // the user's rate while the broker is killed and started again
	Headroom = "headroom" // the highest rate at which the latency keeps its bound
)

// ContenderAxis is the axis of the study whose values are the contenders.
const ContenderAxis = "contender"

// studyPrefix begins the names of the studies of this package.
const studyPrefix = "advise-"

// Wish is a workload with the requirements on a broker that carries it, and the contenders.
type Wish struct {
	Rate, Peak float64       // messages per second over all producers
	P99        time.Duration // the most that the 99th percentile of the end-to-end latency may be, at both rates
	Hold       time.Duration // for which a repetition holds each rate
	Settings   []Setting     // of the spec, of all contenders
	Contenders []Contender
}

// Setting is a setting of the spec. Flag says where it was written, for complaints.
type Setting struct{ Flag, Path, Value string }

// Contender is a broker with its settings.
type Contender struct {
	Name     string
	Set      map[string]any // settings of the spec, which at least name the broker
	Line     int            // on which it stands in the user's file; 0: in none
	Killable bool           // the broker is started here, so that it can be killed
}

// MostContenders bounds the contenders of a wish: each of them is measured.
const MostContenders = 200

// mostRates are the rate and the peak.
const mostRates = 2

const (
	leastMessages = 1000 // of a p99 that anything is concluded from
	leastHold     = time.Second
	mostHold      = 10 * time.Minute
)

// Check returns why a wish contradicts itself. The error begins with the name of the flag to change.
func (w Wish) Check() error {
	rate := unit.PerSecond.Format(w.Rate)
	messages := w.Rate * w.Hold.Seconds()
	switch {
	case !(w.Rate > 0):
		return fmt.Errorf("rate: %s; allowed: more than 0", rate)
	case !(w.Peak >= w.Rate):
		return fmt.Errorf("peak: %s is below the rate, %s; allowed: a multiple such as 3x, or a rate that is no lower", unit.PerSecond.Format(w.Peak), rate)
	case w.Hold < leastHold || w.Hold > mostHold:
		return fmt.Errorf("hold: %s; allowed: %s to %s", study.Duration(w.Hold), study.Duration(leastHold), study.Duration(mostHold))
	case w.P99 <= 0 || w.P99 > w.Hold/2:
		return fmt.Errorf("p99: %s can't be judged while a rate is held for %s; allowed: more than 0, up to half of that",
			study.Duration(w.P99), study.Duration(w.Hold))
	case messages < leastMessages:
		needed := time.Duration(leastMessages/w.Rate*float64(time.Second)).Round(time.Second) + time.Second
		return fmt.Errorf("rate: %s for %s are %.0f messages, and a p99 takes %d; allowed: --hold %s, up to %s",
			rate, study.Duration(w.Hold), messages, leastMessages, study.Duration(needed), study.Duration(mostHold))
	case len(w.Contenders) == 0:
		return fmt.Errorf("brokers: there are none; allowed: one at least")
	}
	return nil
}

// Study makes the study that answers the wish. file is the user's file, or stands for it in complaints.
func (w Wish) Study(file string) (*study.Study, error) {
	s, err := study.Parse(file, []byte(w.document()))
	for _, x := range w.Settings {
		if err == nil {
			err = s.SetAxis(x.Flag, x.Path, []string{x.Value})
		}
	}
	return s, err
}

// name is the same for the same question, with any contenders.
func (w Wish) name() string {
	settings := lists.Map(w.Settings, func(s Setting) string { return s.Path + "=" + s.Value })
	sum := sha256.Sum256(fmt.Append(nil, w.Rate, w.Peak, w.P99, w.Hold, settings))
	return fmt.Sprintf("%s%x", studyPrefix, sum[:4])
}

// document is the study in JSON, which is YAML. Each contender begins on its line of the user's file, so that complaints name that.
func (w Wish) document() string {
	length := func(d time.Duration) string { return study.Duration(d).String() }
	rates := []float64{w.Rate}
	if w.Peak > w.Rate {
		rates = append(rates, w.Peak)
	}
	type set = map[string]any
	sweeps := []set{{
		"name": Load, "set": set{
			"measure": study.MeasureCurve, "curve": set{"rates": rates}, "warmup": length(w.Hold / 5), "duration": length(w.Hold),
			"brokerWarmup": length(w.Hold * 4 / 5), "objectives": set{"e2e_p99": "<= " + length(w.P99)},
		},
	}, {
		"name": Headroom, "set": set{"measure": study.MeasureSustainable, "brokerWarmup": length(w.Hold * 4 / 5), "sustainable": set{
			"latency": length(w.P99), "quantile": 0.99, "trial": "1s", "warmup": "200ms", "confirm": length(2 * w.Hold), "confirms": 1,
			"width": 0.1, "budget": length(6 * w.Hold),
		}},
	}}
	var all, killable []string
	line := 1
	for _, c := range w.Contenders {
		text := jsonOf(set{"name": c.Name, "set": c.Set})
		if c.Killable {
			unwarmed := maps.Clone(c.Set) // as everything with faults
			delete(unwarmed, "brokerWarmup")
			killable = append(killable, jsonOf(set{"name": c.Name, "set": unwarmed}))
		}
		down := max(0, c.Line-line)
		line += down
		all = append(all, strings.Repeat("\n", down)+text)
	}
	if killable != nil {
		sweeps = append(sweeps, set{
			"name": Kill, "axes": set{ContenderAxis: json.RawMessage("[" + strings.Join(killable, ",") + "]")}, "set": set{
				"measure": study.MeasureRate, "load": set{"rate": w.Rate}, "warmup": "0s", "duration": "10s", "drain": "20s",
				"faults": []set{{"at": "2s", "do": "kill", "for": "1s"}},
			},
		})
	}
	return fmt.Sprintf(`{"name": %q, "question": %q, "drain": "5s", "axes": {%q: [%s]}, "sweeps": %s}`,
		w.name(), "Which broker to take?", ContenderAxis, strings.Join(all, ","), jsonOf(sweeps))
}

// jsonOf writes values that were read from YAML, which have a form in JSON.
func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("advise: " + err.Error())
	}
	return string(data)
}
