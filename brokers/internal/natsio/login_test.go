package natsio

import (
	"errors"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestAFileThatHoldsSomethingElseIsBadInputAndNotRepeated(t *testing.T) {
	for _, l := range []driver.Login{driver.ByNkey, driver.ByCredentials} {
		for _, text := range []string{"SUAsecret", "-----BEGIN USER NKEY SEED-----\nSUAsecret\n------END USER NKEY SEED------\n", "secret"} {
			_, err := login(driver.Target{Login: l, Password: text})
			var bad *driver.ErrSetting
			if !errors.As(err, &bad) || bad.Path != "login" || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s, %q: %v", l, text, err)
			}
		}
	}
}
