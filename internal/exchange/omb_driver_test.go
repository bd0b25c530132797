package exchange

import (
	"strings"
	"testing"
)

func TestWhatIsSaidOfADriverFileHoldsNoPassword(t *testing.T) {
	d, err := ReadOMBDriver([]byte("driverClass: io.rabbitmq.X\namqpUris: ['amqp://eve:topsecret@localhost']\n"))
	if said := strings.Join(d.Notes, "\n"); err != nil || !strings.Contains(said, "@localhost") || strings.Contains(said, "topsecret") {
		t.Errorf("%s, %v", said, err)
	}
}
