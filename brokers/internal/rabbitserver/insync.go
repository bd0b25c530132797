package rabbitserver

import (
	"context"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// inSync returns the least number of online members of any quorum queue or stream with several members, or of nodes that
// have a mirrored queue completely. The other members of a quorum queue vote, so an online member follows its leader's log.
func inSync(ctx context.Context, c *provision.Cluster) (int, error) {
	return provision.Ask(c, func(n *provision.Node) (int, error) {
		out, err := control(ctx, n, "--silent", "list_queues", "members", "online")
		mirrored := ""
		if policy, _ := Policy(c.Version, c.Settings); err == nil && policy["ha-mode"] != nil {
			mirrored, err = control(ctx, n, "--silent", "list_queues", "slave_pids", "synchronised_slave_pids")
		}
		return both(fewest(out), mirrorsInSync(mirrored)), err
	})
}

// fewest reads lines of two lists of nodes: all members of a queue, and those online.
func fewest(lines string) int {
	least := 0
	for line := range strings.Lines(lines) {
		members, online, ok := strings.Cut(line, "\t")
		if n := strings.Count(online, "@"); ok && strings.Count(members, "@") > 1 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}
