package lab

import (
	"fmt"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
)

func TestARefusalLeavesOutTheErrorsAroundIt(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"by the driver": {
			fmt.Errorf("consumer 1 of subscription 0: consume from bm-1: %w", driver.Unsupported("consumerPerSubscription: 2", "each would get every message")),
			"consumerPerSubscription: 2 is not supported: each would get every message",
		},
		"by the recipe": {
			fmt.Errorf("start kafka: node 1: %w", &provision.ErrSetting{Name: "no.such", Reason: "unknown"}), `server setting "no.such": unknown`,
		},
	} {
		status, why := ending(t.Context(), c.err)
		if status != store.Refused || why.Text != c.want {
			t.Errorf("%s: %s, %q; want refused, %q", name, status, why.Text, c.want)
		}
	}
}
