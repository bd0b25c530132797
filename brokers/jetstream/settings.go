package jetstream

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

// How a consumer is created, and how it reads: the values of the client settings consumer and consume.
const (
	durable  = "durable"
	ordered  = "ordered"
	callback = "callback"
	fetch    = "fetch"
)

func isOrdered(client driver.Values) bool { return client.String("consumer") == ordered }

var clientSettings = []driver.Setting{
	driver.ModeSetting("messages are published with reply subjects of the driver's own instead of PublishAsync, which makes an object of each answer"),
	driver.AckSetting(),
	{Scope: driver.ClientScope, Name: "PublishAsyncTimeout", Default: 5 * time.Second, Doc: "a message without an acknowledgement after this time is sent again"},
	{Scope: driver.ClientScope, Name: "consumer", Default: durable, Allowed: []string{durable, ordered}, Doc: "what a subscription is; durable: a consumer that the server keeps; ordered: one that the client makes, and makes anew where a message is missing, without acknowledgements: at most once, one consumer per subscription"},
	{Scope: driver.ClientScope, Name: "consume", Default: callback, Allowed: []string{callback, fetch}, Doc: "how messages are asked for; callback: Consume, which asks for more before it has run out; fetch: Fetch, batch after batch", Tries: []string{"fetch"}},
	{Scope: driver.ClientScope, Name: "AckPolicy", Class: driver.Acknowledging, Default: "auto", Allowed: []string{"auto", "explicit", "all", "none"}, Doc: "how consumers acknowledge; auto: none where they acknowledge before delivery, as at-most-once has it, else explicit"},
	{Scope: driver.ClientScope, Name: "AckWait", Default: 30 * time.Second, Least: time.Millisecond, Idle: driver.WithoutAcks, Doc: "a message not acknowledged by then is delivered again"},
	{Scope: driver.ClientScope, Name: "MaxAckPending", Class: driver.Prefetching, Default: int64(10_000), Least: int64(-1), Idle: driver.WithoutAcks, Doc: "messages that may be delivered and not acknowledged, per subscription; -1: no limit", Tries: []string{"1000", "50000"}},
	{Scope: driver.ClientScope, Name: "PullMaxMessages", Class: driver.Prefetching, Default: int64(2000), Least: int64(1), Idle: byBytes, Doc: "messages asked for ahead, per consumer; refilled at half, or with consume: fetch those of a batch", Tries: []string{"200", "500", "10000"}},
	{Scope: driver.ClientScope, Name: "PullMaxBytes", Default: int64(0), Least: int64(0), Doc: "bytes asked for ahead instead of messages, with consume: fetch beside them; 0: count messages"},
	{Scope: driver.ClientScope, Name: "PullExpiry", Default: jetstream.DefaultExpires, Least: time.Second, Doc: "how long the server keeps a pull request, at least 1s and two PullHeartbeats"},
	{Scope: driver.ClientScope, Name: "PullHeartbeat", Default: time.Second, Least: 500 * time.Millisecond, Doc: "how often the server confirms that it still has the pull request, at least 500ms; two missing ones renew the request"},
	natsio.MonitorSetting(unsynced),
}

func unsynced(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Persistence != driver.Fsync, "only for persistence: fsync the servers are asked how they write")
}

func byBytes(_ driver.Guarantee, v driver.Values) string {
	if n := v.Int("PullMaxBytes"); n > 0 && v.String("consume") == callback {
		return fmt.Sprintf("PullMaxBytes is %d, and asks by bytes", n)
	}
	return ""
}
