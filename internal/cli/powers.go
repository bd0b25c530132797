package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

// refusals returns, by point ID, why a broker is known to refuse a point before anything is started. It returns an error, bad
// input, for an unknown broker or version, a setting of the wrong type, and a setting that no broker of the points knows: with
// kafka and nats, client.linger.ms refuses the points of nats only, and client.lingr.ms is an error.
func refusals(points []study.Point) (map[string]string, error) {
	refused := map[string]string{}
	unknown, known := map[string]error{}, map[string]bool{} // settings, by their path
	for _, p := range points {
		if _, err := gate.Objectives(p.Spec); err != nil {
			return nil, badInput("%s", placed(p, err))
		}
		if err := askPowers(p.Spec); err != nil {
			unsupported, isUnsupported := errors.AsType[*driver.ErrUnsupported](err)
			unobtainable, isUnobtainable := errors.AsType[*provision.ErrRefused](err)
			if !isUnsupported && !(isUnobtainable && unobtainable.Path != "version") {
				return nil, badInput("%s", placed(p, err))
			}
			refused[p.ID] = placed(p, err)
			if isUnsupported && unsupported.Unknown {
				unknown[unsupported.Path] = badInput("%s", placed(p, err))
				continue
			}
		}
		for name := range p.Spec.Client {
			known["client."+name] = true
		}
		for name := range p.Spec.Topic {
			known["topicConfig."+name] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(unknown)) {
		if !known[path] {
			return nil, unknown[path]
		}
	}
	return refused, nil
}

// placed returns an error's text after the place where the setting that it is about was written, such as "study.yaml:7".
func placed(p study.Point, err error) string {
	var about interface{ SettingPath() string }
	if errors.As(err, &about) {
		if where := p.Where(about.SettingPath()); where != "" {
			return where + ": " + err.Error()
		}
	}
	return err.Error()
}

// askPowers returns why a broker can't do what a spec asks, as far as that is known without starting it.
func askPowers(s study.Spec) error {
	if _, err := driver.Lookup(s.Broker); err != nil {
		return &driver.ErrSetting{Path: "broker", Err: fmt.Errorf("%w%s", err, suggest.DidYouMean(s.Broker, driver.Names()))}
	}
	return lab.Possible(s)
}

// starts reports whether a broker is started for the spec.
func starts(s study.Spec) bool {
	_, ok := catalog.Started(s.Broker)
	return ok && len(s.Attach) == 0
}
