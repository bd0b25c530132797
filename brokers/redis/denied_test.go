package redis_test

import (
	"testing"

	client "github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestWhatAUserMayNotDoIsSaidInTheServersWords(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "redis"})
	admin := client.NewClient(&client.Options{Addr: target.Addresses[0]})
	defer admin.Close()
	without := func(command string) driver.Target {
		const password = "sesame"
		livetest.Must(t, admin.Do(t.Context(), "ACL", "SETUSER", "no-"+command, "on", ">"+password, "~*", "&*", "+@all", "-"+command).Err())
		to := target
		to.User, to.Password = "no-"+command, password
		return to
	}
	says := func(command string) string { return "has no permissions to run the '" + command + "' command" }
	tuned := map[string]any{"mode": driver.Tuned}
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "redis")},
		drivertest.Denial{Name: "add", Target: without("xadd"), Guarantee: memory, Says: says("xadd")},
		drivertest.Denial{Name: "add at most once", Target: without("xadd"), Guarantee: once, Says: says("xadd")},
		drivertest.Denial{Name: "add with the tuned client", Target: without("xadd"), Guarantee: memory, Client: tuned, Says: says("xadd")},
		drivertest.Denial{Name: "read", Target: without("xreadgroup"), Guarantee: memory, Says: says("xreadgroup")},
		drivertest.Denial{Name: "read with the tuned client", Target: without("xreadgroup"), Guarantee: memory, Client: tuned, Says: says("xreadgroup")},
		drivertest.Denial{Name: "acknowledge", Target: without("xack"), Guarantee: memory, Says: says("xack")},
		drivertest.Denial{Name: "make groups", Target: without("xgroup|create"), Guarantee: memory, Says: says("xgroup|create")},
	)
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "redis-pubsub")},
		drivertest.Denial{Name: "publish", Target: without("publish"), Guarantee: once, Says: says("publish")},
		drivertest.Denial{Name: "subscribe", Target: without("subscribe"), Guarantee: once, Says: says("subscribe")},
	)
	livetest.Must(t, admin.ConfigSet(t.Context(), "maxclients", "2").Err()) // the test's and the driver's first one
	full := []drivertest.Denial{{Name: "a client too many", Target: target, Guarantee: memory, Says: "max number of clients reached (the server's maxclients)"}}
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "redis")}, full...)
	full[0].Guarantee = once
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "redis-pubsub")}, full...)
}
