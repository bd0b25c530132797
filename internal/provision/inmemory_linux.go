//go:build !portable

package provision

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CanHoldInMemory returns an error that says why nodes can't have so many bytes of data in memory here, all together; nil if they can. It
// changes nothing.
func CanHoldInMemory(bytes int64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil || data[0].Effective&(1<<unix.CAP_SYS_ADMIN) == 0 {
		return errors.New("this user may not mount a file system in memory; root may, unless a container forbids it")
	}
	var memory unix.Sysinfo_t
	if err := unix.Sysinfo(&memory); err != nil {
		return fmt.Errorf("how much memory there is can't be read: %w", err)
	}
	if has := memory.Totalram * uint64(memory.Unit); uint64(bytes) > has/2 {
		return fmt.Errorf("%d MiB for all nodes are more than half of this machine's memory, which has %d MiB", bytes>>20, has>>20)
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
