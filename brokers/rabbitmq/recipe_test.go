package rabbitmq

import (
	"errors"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

func TestServerSettingReachesTheServer(t *testing.T) {
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	var refused *provision.ErrSetting
	var missing *provision.ErrMissing
	_, err = host.Start(t.Context(), provision.Options{Broker: "rabbitmq", Server: map[string]any{"heartbeet": 3}})
	if errors.As(err, &missing) {
		t.Skipf("RabbitMQ can't be installed here: %v", err)
	}
	if !errors.As(err, &refused) || refused.Name != "heartbeet" {
		t.Fatalf("starting with an unknown setting: %v; want it refused by name", err)
	}
	_, target := started(t, provision.Options{Server: map[string]any{"frame_max": 8192, "log.console.level": "warning"}})
	d := &rabbit{cfg: config(t, target, fast, nil, nil)}
	l, err := d.dial(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if got := l.conn.Config.FrameSize; got != 8192 {
		t.Errorf("the server negotiated frames of %d bytes, want the 8192 it was configured with", got)
	}
}
