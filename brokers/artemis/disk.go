package artemis

import (
	"fmt"
	"strconv"
	"syscall"

	"github.com/brokermark/brokermark/internal/provision"
)

// diskUsage is the setting for the share of its disk, in percent, above which the server takes no message.
const (
	diskUsage      = "max-disk-usage"
	usualDiskUsage = "90"
)

// roomLeft refuses a start on a disk that the server finds too full: its producers would wait for credit until they give
// up, and only the server's log would say why. Space that the server may not use counts as used (ActiveMQServerImpl's disk
// monitor).
func roomLeft(n *provision.Node, asked map[string]string) error {
	most, err := strconv.ParseFloat(asked[diskUsage], 64)
	if err != nil {
		most, _ = strconv.ParseFloat(usualDiskUsage, 64)
	}
	var disk syscall.Statfs_t
	if most < 0 || asked["min-disk-free"] != "" || syscall.Statfs(n.Dir, &disk) != nil || disk.Blocks == 0 {
		return nil
	}
	if used := 100 * (1 - float64(disk.Bavail)/float64(disk.Blocks)); used >= most {
		return fmt.Errorf("the disk that holds %s is %.1f %% full, and Artemis takes no message from %g %% on: make room, or raise server.%s", n.Dir, used, most, diskUsage)
	}
	return nil
}
