package activemq

import (
	"context"
	"errors"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

// The newer one takes it: TestSingleBroker starts with it.
func TestTheOldVersionRefusesWhatOnlyTheNewOneHas(t *testing.T) {
	const name = "policy.advancedMessageStatisticsEnabled"
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	in, err := host.Start(t.Context(), provision.Options{Broker: "activemq", Version: "5.18.3", Server: map[string]any{name: true}})
	if err == nil {
		_ = in.Stop(context.Background())
	}
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("ActiveMQ 5 can't be installed here: %v", err)
	}
	var refused *provision.ErrSetting
	if !errors.As(err, &refused) || refused.Name != name {
		t.Errorf("%v; want %s refused by name", err, name)
	}
}
