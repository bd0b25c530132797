// Package natstest has what the tests of NATS' brokers share: a user of few rights.
package natstest

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Restricted starts broker and returns the target that logs in as a user of those permissions, which are NATS' own; clients
// that don't log in may do everything.
func Restricted(t *testing.T, broker string, permissions map[string]any) driver.Target {
	t.Helper()
	const user, password = "bench", "sesame"
	_, target := livetest.Start(t, provision.Options{Broker: broker, Server: map[string]any{
		"no_auth_user": "anyone",
		"authorization.users": []any{
			map[string]any{"user": "anyone", "password": password},
			map[string]any{"user": user, "password": password, "permissions": permissions},
		},
	}})
	target.User, target.Password = user, password
	return target
}
