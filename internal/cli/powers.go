package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// refusals tells, by point ID, what a broker is known not to do before anything is started. An unknown broker or a
// setting of the wrong type is bad input instead: no broker could be asked.
func refusals(points []study.Point) (map[string]string, error) {
	refused := map[string]string{}
	for _, p := range points {
		err := askPowers(p.Spec)
		var unsupported *driver.ErrUnsupported
		var unobtainable *provision.ErrRefused
		switch {
		case err == nil:
		case errors.As(err, &unsupported), errors.As(err, &unobtainable):
			refused[p.ID] = placed(p, err.Error())
		default:
			return nil, &failure{code: exitInput, err: errors.New(placed(p, err.Error()))}
		}
	}
	return refused, nil
}

// blamed finds the setting that a complaint of a driver or recipe begins with, after the broker's name.
var blamed = regexp.MustCompile(`^(?:[a-z-]+: )?(?:(client|topic|server) setting "([^"]+)"|([A-Za-z]+(?:\.[A-Za-z0-9_.-]+)?)(?::| is not supported)|(passwordFile|caFile|certFile) )`)

// placed puts before a complaint where the setting that it is about was written.
func placed(p study.Point, complaint string) string {
	path := ""
	switch m := blamed.FindStringSubmatch(complaint); {
	case strings.HasPrefix(complaint, "unknown broker "):
		path = "broker"
	case strings.Contains(complaint, ": no version "):
		path = "version"
	case m == nil:
		return complaint
	case m[1] != "":
		path = m[1] + "." + m[2]
	default:
		path = m[3] + m[4]
	}
	if rest, ok := strings.CutPrefix(path, "topic."); ok {
		path = "topicConfig." + rest
	}
	if where := p.Where(path); where != "" {
		return flagOf(where) + ": " + complaint
	}
	return complaint
}

// askPowers asks everything that can be asked without a running broker.
func askPowers(s study.Spec) error {
	if _, err := driver.Lookup(s.Broker); err != nil {
		return fmt.Errorf("%w%s", err, didYouMean(s.Broker, driver.Names()))
	}
	return lab.Possible(s)
}

// starts tells whether a broker is started for the spec.
func starts(s study.Spec) bool {
	_, err := provision.Lookup(s.Broker)
	return err == nil && len(s.Attach) == 0
}
