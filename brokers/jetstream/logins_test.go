package jetstream_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/natsio/natstest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
)

func TestTokensKeysAndCredentialsLetIn(t *testing.T) {
	drivertest.LogsIn(t, drivertest.Suite{Kind: livetest.Kind(t, "jetstream"), Guarantees: []driver.Guarantee{fileLeast}}, natstest.Ways(t, "jetstream")...)
}
