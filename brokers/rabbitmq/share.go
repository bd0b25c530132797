package rabbitmq

import (
	"context"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// trunk is a connection on which several producers, or consumers, have channels.
type trunk struct {
	mu    sync.Mutex // held while a channel is opened or the connection dialled
	base  *link      // nil or dead: to be dialled
	users int        // number of users of base
}

// trunkOf finds the trunk of a member of a group: client.channels members share one.
func (d *rabbit) trunkOf(group string, member int) *trunk {
	d.trunksMu.Lock()
	defer d.trunksMu.Unlock()
	name := fmt.Sprint(group, member/int(d.cfg.Client.Int("channels")))
	if d.trunks[name] == nil {
		d.trunks[name] = &trunk{}
	}
	return d.trunks[name]
}

// attach opens a channel of a shared connection, or dials if members of a group don't share connections.
func (d *rabbit) attach(ctx context.Context, group string, member int) (*link, error) {
	if d.cfg.Client.Int("channels") == 1 {
		return d.dial(ctx, member)
	}
	t := d.trunkOf(group, member)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil || t.base.conn.IsClosed() {
		l, err := d.dial(ctx, member/int(d.cfg.Client.Int("channels")))
		if err != nil {
			return nil, err
		}
		t.base, t.users = l, 0
	}
	l := &link{conn: t.base.conn, wire: t.base.wire, shared: t}
	defer l.bound(ctx)()
	var err error
	if l.ch, err = l.channel(); err != nil {
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	l.ended = l.ch.NotifyClose(make(chan *amqp.Error, 1))
	t.users++
	return l, nil
}

// leave closes a channel of the trunk, and with the last one its connection.
func (t *trunk) leave(l *link) {
	shut(l, l.ch)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil || t.base.conn != l.conn {
		return // it has been dialled anew meanwhile
	}
	if t.users--; t.users == 0 {
		t.base.close()
		t.base = nil
	}
}

// shut closes channels of l within closeTimeout. If the broker doesn't answer, it cuts the connection for all that share it.
func shut(l *link, channels ...*amqp.Channel) {
	timer := time.AfterFunc(closeTimeout, func() { _ = l.wire.Close() })
	defer timer.Stop()
	for _, ch := range channels {
		_ = ch.Close()
	}
}
