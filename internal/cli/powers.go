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

// refusals tells, by point ID, what a broker is known not to do before anything is started. An unknown broker or
// version, a setting of the wrong type and one that no broker of the points knows are bad input instead.
func refusals(points []study.Point) (map[string]string, error) {
	refused := map[string]string{}
	unknown, known := map[string]error{}, map[string]bool{} // settings, by their path
	for _, p := range points {
		if _, err := gate.Objectives(p.Spec); err != nil {
			return nil, &failure{code: exitInput, err: errors.New(placed(p, err))}
		}
		err := askPowers(p.Spec)
		var unsupported *driver.ErrUnsupported
		var unobtainable *provision.ErrRefused
		switch {
		case err == nil:
		case errors.As(err, &unsupported) && unsupported.Unknown:
			unknown[unsupported.Path] = &failure{code: exitInput, err: errors.New(placed(p, err))}
			refused[p.ID] = placed(p, err)
		case errors.As(err, &unsupported), errors.As(err, &unobtainable) && unobtainable.Path != "version":
			refused[p.ID] = placed(p, err)
		default:
			return nil, &failure{code: exitInput, err: errors.New(placed(p, err))}
		}
		if unsupported == nil || !unsupported.Unknown {
			for name := range p.Spec.Client {
				known["client."+name] = true
			}
			for name := range p.Spec.Topic {
				known["topicConfig."+name] = true
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(unknown)) {
		if !known[path] {
			return nil, unknown[path]
		}
	}
	return refused, nil
}

// placed puts before a complaint where the setting that it is about was written.
func placed(p study.Point, err error) string {
	var about interface{ SettingPath() string }
	if errors.As(err, &about) {
		if where := p.Where(about.SettingPath()); where != "" {
			return where + ": " + err.Error()
		}
	}
	return err.Error()
}

// askPowers asks everything that can be asked without a running broker.
func askPowers(s study.Spec) error {
	if _, err := driver.Lookup(s.Broker); err != nil {
		return &driver.ErrSetting{Path: "broker", Err: fmt.Errorf("%w%s", err, suggest.DidYouMean(s.Broker, driver.Names()))}
	}
	return lab.Possible(s)
}

// starts tells whether a broker is started for the spec.
func starts(s study.Spec) bool {
	_, ok := catalog.Started(s.Broker)
	return ok && len(s.Attach) == 0
}
