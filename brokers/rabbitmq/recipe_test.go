package rabbitmq

import (
	"errors"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

func TestServerSettingsAreRefusedByNameBeforeTheServerStarts(t *testing.T) {
	for name, want := range map[string]string{
		"listeners.tcp.1":             "it is set by the recipe, so that the broker is found and alone",
		"vm_memory_high_watermak":     "rabbitmq.conf has no such key; the nearest is vm_memory_high_watermark",
		"vm_memory_high_watermark.no": "rabbitmq.conf has no such key; the nearest is vm_memory_high_watermark",
	} {
		known := []string{"vm_memory_high_watermark.relative", "log.$channel.level", "vm_memory_high_watermark"}
		var refused *provision.ErrSetting
		if err := checkKey(known, name); !errors.As(err, &refused) || refused.Name != name {
			t.Errorf("%s: %v; want it refused by name", name, err)
		} else if refused.Reason != want {
			t.Errorf("%s: %q, want %q", name, refused.Reason, want)
		}
	}
	for _, name := range []string{"vm_memory_high_watermark.relative", "log.console.level"} {
		if err := checkKey([]string{"vm_memory_high_watermark.relative", "log.$channel.level"}, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

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
	if !errors.As(err, &refused) {
		t.Fatalf("starting with an unknown setting: %v; want an ErrSetting", err)
	}
	_, target := started(t, provision.Options{Server: map[string]any{"frame_max": 8192}})
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
