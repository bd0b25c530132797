package natsio

import (
	"fmt"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// localhost:8222 was taken for a URL of the scheme localhost, and 127.0.0.1:8222 for none at all.
func TestAMonitoringAddressNeedsNoScheme(t *testing.T) {
	got := Monitors(driver.Config{Client: driver.Values{monitorName: "127.0.0.1:8222, localhost:8223/, https://c:8224/"}})
	if want := "[http://127.0.0.1:8222 http://localhost:8223 https://c:8224]"; fmt.Sprint(got) != want {
		t.Errorf("monitors %v, want %s", got, want)
	}
}
