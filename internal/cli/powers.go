package cli

import (
	"errors"
	"fmt"

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
			refused[p.ID] = err.Error()
		default:
			return nil, &failure{code: exitInput, err: err}
		}
	}
	return refused, nil
}

// askPowers asks everything that can be asked without a running broker.
func askPowers(s study.Spec) error {
	kind, err := driver.Lookup(s.Broker)
	if err != nil {
		return fmt.Errorf("%w%s", err, didYouMean(s.Broker, driver.Names()))
	}
	if _, err := driver.Decode(kind.Settings, driver.ClientScope, s.Client); err != nil {
		return ofBroker(s, err)
	}
	if _, err := driver.Decode(kind.Settings, driver.TopicScope, s.Topic); err != nil {
		return ofBroker(s, err)
	}
	if s.Measure == study.MeasureBacklog && kind.Transient {
		return driver.Unsupported("measure: backlog", "%s keeps nothing for consumers that are not connected", s.Broker)
	}
	if err := kind.Supports(driver.Guarantee{
		Delivery: driver.Delivery(s.Delivery), Persistence: driver.Persistence(s.Persistence),
		Replicas: s.Replicas, Acks: driver.Acks(s.Acks), Ordering: driver.Ordering(s.Ordering),
	}); err != nil {
		return err
	}
	return askRecipe(s)
}

func ofBroker(s study.Spec, err error) error {
	if is[*driver.ErrUnsupported](err) {
		return err
	}
	return fmt.Errorf("%s: %w", s.Broker, err)
}

func askRecipe(s study.Spec) error {
	if len(s.Attach) > 0 {
		_, err := lab.Attached(s)
		return err
	}
	recipe, err := provision.Lookup(s.Broker)
	if err != nil { // nothing is started
		return lab.Encryptable(s, nil)
	}
	if _, err := recipe.Version(s.Version); err != nil {
		return err
	}
	if s.Nodes > recipe.MaxNodes {
		return driver.Unsupported(fmt.Sprintf("nodes: %d", s.Nodes), "at most %d can be started here", recipe.MaxNodes)
	}
	return lab.Encryptable(s, recipe)
}

// starts tells whether a broker is started for the spec.
func starts(s study.Spec) bool {
	_, err := provision.Lookup(s.Broker)
	return err == nil && len(s.Attach) == 0
}
