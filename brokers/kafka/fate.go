package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/socket"
)

const (
	fatePause = 200 * time.Millisecond
	// A commit that was under way when the connection was cut arrives within this time, or never.
	fateSettles = time.Second
)

// fate asks the coordinator of the client's transaction whether an unanswered commit has taken effect. known is false if no
// coordinator answers within patience: a broker that restarts on a busy machine may need a minute. The transaction had records,
// so it was open before the commit, and is now either still open or ended as the coordinator says.
func fate(ctx context.Context, client *kgo.Client, patience time.Duration) (committed, known bool) {
	id, _ := client.OptValue(kgo.TransactionalID).(string)
	admin := kadm.NewClient(client)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var open time.Time // since when it has been seen open
	for {
		all, err := admin.DescribeTransactions(ctx, id)
		state := ""
		if t, ok := all[id]; err == nil && ok && t.Err == nil {
			state = t.State
		}
		switch state {
		case "PrepareCommit", "CompleteCommit":
			return true, true
		case "PrepareAbort", "CompleteAbort", "PrepareEpochFence":
			return false, true
		case "Ongoing":
			if open.IsZero() {
				open = time.Now()
			} else if time.Since(open) > fateSettles {
				return false, true
			}
		default: // no answer, or the coordinator is loading it
			open = time.Time{}
		}
		if socket.Pause(ctx, fatePause) != nil {
			return false, false
		}
	}
}
