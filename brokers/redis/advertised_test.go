package redis_test

import (
	"testing"

	client "github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAnAnnouncedAddressThatCannotBeReachedIsNamed(t *testing.T) {
	testkit.Long(t) // Kafka and RabbitMQ's streams have the same in make test
	_, target := livetest.Start(t, provision.Options{Broker: "redis-cluster"})
	admin := client.NewClient(&client.Options{Addr: target.Addresses[0]})
	defer admin.Close()
	for name, value := range map[string]string{"cluster-announce-ip": "127.0.0.1", "cluster-announce-port": "1"} {
		livetest.Must(t, admin.ConfigSet(t.Context(), name, value).Err())
	}
	livetest.Misled(t, "redis-cluster", target, memory, "127.0.0.1:1", "cluster-announce-ip, cluster-announce-port")
}
