package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/unit"
)

// printedUnits are the units in which publications print metrics, with their sizes, by the metric's own unit, in which the sizes are given.
var printedUnits = map[unit.Unit]map[string]float64{
	unit.Nanoseconds: {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9},
	unit.Seconds:     {"ms": 1e-3, "s": 1, "min": 60},
	unit.CPUSeconds:  {"s": 1},
	unit.PerSecond:   {"/s": 1, "msg/s": 1, "k/s": 1e3, "M/s": 1e6},
	unit.Bytes:       {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
	unit.Share:       {"%": 0.01},
	unit.Factor:      {"×": 1, "x": 1},
	unit.Count:       {"messages": 1},
	unit.None:        {"%": 1, "MB/s": 1},
}

// InUnit is the size of the named unit, measured in u: that of "ms" in unit.Nanoseconds is 1e6. "" names u itself. It is an error if metrics
// in u are never printed in the named unit.
func InUnit(u unit.Unit, name string) (float64, error) {
	if name == "" {
		return 1, nil
	}
	if factor, ok := printedUnits[u][name]; ok {
		return factor, nil
	}
	return 0, fmt.Errorf("%q is no unit of it; allowed: %s", name, strings.Join(slices.Sorted(maps.Keys(printedUnits[u])), ", "))
}
