//go:build !portable

package provision

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CanHoldInMemory returns an error that says why nodes can't have their data in memory here; nil if they can. It changes nothing.
func CanHoldInMemory() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil || data[0].Effective&(1<<unix.CAP_SYS_ADMIN) == 0 {
		return errors.New("this user may not mount a file system in memory; root may, unless a container forbids it")
	}
	return nil
}

// holdInMemory puts a file system in memory of at most so many bytes where the node has its data. Its directory is there, and no process of
// the node yet.
func (n *Node) holdInMemory(bytes int64) error {
	options := fmt.Sprintf("size=%d,mode=0700,uid=%d,gid=%d", bytes, n.Cluster.user, n.Cluster.user)
	if err := unix.Mount("tmpfs", n.Data, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return &ErrRefused{Broker: n.Cluster.Recipe.Broker, Reason: fmt.Sprintf("its data can't be held in memory: %v", err)}
	}
	return nil
}

// letGo removes what nodes of an instance hold in memory, whose processes have ended.
func letGo(dir string) {
	held, _ := filepath.Glob(filepath.Join(dir, "node-*", "data"))
	for _, data := range held {
		_ = unix.Unmount(data, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) // an error says that it is an ordinary directory
	}
}
