package rabbitmq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestServerSettingReachesTheServer(t *testing.T) {
	livetest.RefusesServer(t, provision.Options{Broker: "rabbitmq"}, "heartbeet", 3, "")
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq", Server: map[string]any{"frame_max": 8192, "log.console.level": "warning"}})
	d := dialer(livetest.Config(t, "rabbitmq", target, fast, nil, nil))
	l, err := d.dial(t.Context(), 0)
	livetest.Must(t, err)
	defer l.close()
	if got := l.conn.Config.FrameSize; got != 8192 {
		t.Errorf("the server negotiated frames of %d bytes, want the 8192 it was configured with", got)
	}
}
