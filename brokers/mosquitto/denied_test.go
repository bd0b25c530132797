package mosquitto_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAMessageThatAUserMayNotPublishIsRefusedInTheServersWords(t *testing.T) {
	dir := t.TempDir()
	rights := filepath.Join(dir, "acl")
	livetest.Must(t, os.Chmod(filepath.Dir(dir), 0o755))
	livetest.Must(t, os.WriteFile(rights, []byte("topic read #\n"), 0o644)) // the broker's user reads it
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto", Server: map[string]any{"acl_file": rights}})
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "mosquitto")},
		drivertest.Denial{Name: "at least once", Target: target, Guarantee: least, Says: "reason 0x87"})
}
