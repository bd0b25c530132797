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

// Mosquitto refuses it with a code that the protocol doesn't have for an acknowledgement.
func TestAMessageLargerThanTheServerTakesIsRefusedInWords(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto", Server: map[string]any{"message_size_limit": 1}})
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "mosquitto")},
		drivertest.Denial{Name: "too large", Target: target, Guarantee: least, Says: "reason 0x95: Packet too large"})
}

func TestAServerThatHasAsManyClientsAsItTakesIsNamed(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto", Server: map[string]any{"max_connections": 1}})
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "mosquitto")},
		drivertest.Denial{Name: "one too many", Target: target, Guarantee: least, Says: "on clients beyond the server's max_connections"})
}
