package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/internal/driver"
)

// Sentinels watch a server and its replicas: they know which one accepts writes, and promote a replica if it is gone. Every
// connection is made to the server that they name then. The client's own failover client also subscribes to them, which closes
// connections to a replaced server earlier than its end, or its answer READONLY, would.

const (
	masterName    = "MasterName"
	sentinelLogin = "SentinelLogin"
)

var sentinelSettings = []driver.Setting{
	{Scope: driver.ClientScope, Name: masterName, Default: "", Doc: "the addresses are those of sentinels, which know the server by this name; empty: they are servers'"},
	{Scope: driver.ClientScope, Name: sentinelLogin, Default: false, Idle: unwatched, Doc: "user and password are shown to the sentinels, too"},
}

func unwatched(_ driver.Guarantee, v driver.Values) string {
	return driver.If(v.String(masterName) == "", "without MasterName there are no sentinels")
}

// fitsSentinel refuses sentinels for a server that is started here.
func fitsSentinel(c driver.Config) error {
	if name := watchedName(c); name != "" && c.Target.Server != nil {
		return driver.Unsupported("client."+masterName+": "+name, "a server that is started here has no sentinels; allowed with attach")
	}
	return nil
}

// watchedName is the sentinels' name of the server, if the target's addresses are those of sentinels; empty: they are those of servers.
func watchedName(c driver.Config) string {
	name, _ := c.Client[masterName].(string) // a cluster's clients have no such setting
	return name
}

// servers are the candidates for the node that accepts writes: the target's addresses, or the one that its sentinels name.
func (d *session) servers(ctx context.Context) ([]string, error) {
	given := d.config.Target.Addresses
	if watchedName(d.config) == "" {
		return given, nil
	}
	address, by, err := d.master(ctx)
	if err != nil {
		return nil, err
	}
	return []string{address}, driver.Advertised(ctx, "redis", by, "sentinel monitor, replica-announce-ip, replica-announce-port", given, []string{address})
}

// master asks one sentinel after the other for the server's address.
func (d *session) master(ctx context.Context) (address, by string, err error) {
	name, t := watchedName(d.config), d.config.Target
	var errs []error
	for _, at := range t.Addresses {
		o := d.options(at, nil)
		o.Dialer = func(ctx context.Context, _, addr string) (net.Conn, error) { return d.connect(ctx, addr, nil) }
		if !d.config.Client.Bool(sentinelLogin) {
			o.Username, o.Password = "", ""
		}
		sentinel := redis.NewSentinelClient(o)
		where, err := sentinel.GetMasterAddrByName(ctx, name).Result()
		_ = sentinel.Close()
		switch {
		case err == nil && len(where) == 2:
			return net.JoinHostPort(where[0], where[1]), at, nil
		case errors.Is(err, redis.Nil):
			errs = append(errs, driver.Refused("redis", at, fmt.Errorf("the sentinel knows no server by the name %q (client.%s)", name, masterName)))
		case err != nil && strings.Contains(err.Error(), "unknown command"):
			errs = append(errs, driver.Refused("redis", at, fmt.Errorf("it is no sentinel: %w", err)))
		default:
			errs = append(errs, refusal(at, t, err))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, errors.New("no address to connect to"))
	}
	return "", "", errors.Join(errs...)
}
