package fleet

import (
	"context"

	"github.com/nats-io/nuid"

	"github.com/brokermark/brokermark/internal/clock"
)

// Traffic is what has been posted at a control server.
type Traffic struct{ Messages, Bytes int64 }

// Traffic counts what came in, from both sides.
func (c *Control) Traffic() Traffic {
	v, err := c.server.Varz(nil)
	if err != nil {
		return Traffic{}
	}
	return Traffic{v.InMsgs, v.InBytes}
}

// JoinElsewhere is Join for an agent that has a clock of its own, which compare relates to the coordinator's.
func JoinElsewhere(ctx context.Context, o Options, compare func(ctx context.Context, address, token string) (clock.Offset, error)) error {
	a := &joined{Options: o, info: Self(o.Name, o.Build), claimed: make(chan *session), compare: compare}
	a.info.Clock = nuid.Next()
	return a.join(ctx)
}
