//go:build !portable

package store

import "golang.org/x/sys/unix"

// remote are network file systems by the number that statfs(2) returns.
var remote = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.AFS_FS_MAGIC:     "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
	unix.NCP_SUPER_MAGIC:  "NCP",
	unix.CEPH_SUPER_MAGIC: "Ceph",
	0x0bd00bd0:            "Lustre",
	0x19830326:            "BeeGFS",
	0x47504653:            "GPFS",
	0x7461636f:            "OCFS2",
	0x01161970:            "GFS2",
}

// nameOfRemote is empty for a local file system.
func nameOfRemote(fs *unix.Statfs_t) string { return remote[uint32(fs.Type)] }
