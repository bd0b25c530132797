package kafka_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

func TestAVersionRefusesWhatOnlyTheOtherHas(t *testing.T) {
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	for version, name := range map[string]string{"4.3.1": "log.message.format.version", "3.9.2": "group.streams.max.size"} {
		in, err := host.Start(t.Context(), provision.Options{Broker: "kafka", Version: version, Server: map[string]any{name: "3"}})
		if err == nil {
			_ = in.Stop(context.Background())
		}
		var missing *provision.ErrMissing
		if errors.As(err, &missing) {
			t.Skipf("Kafka %s can't be installed here: %v", version, err)
		}
		var refused *provision.ErrSetting
		if !errors.As(err, &refused) || refused.Name != name || !strings.Contains(refused.Reason, "this version of Kafka has") {
			t.Errorf("Kafka %s, %s: %v; want it refused by name", version, name, err)
		}
	}
}
