//go:build !portable

package provision

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/bounded"
)

// groupsFor returns the groups, not yet created, that limit a node with its data below dir. The error says why that is impossible.
func groupsFor(l Limits, dir, name string) (_ []group, err error) {
	if l.IO > 0 {
		if l.device, err = deviceOf(dir); err != nil {
			return nil, err
		}
	}
	return tree{mount: procfs.DefaultMountPoint}.groupsFor(l, name)
}

// tree finds this process's control groups by a mount of /proc.
type tree struct{ mount string }

// groupsFor returns a group of version 1 for each controller that has a hierarchy of its own, below that of this process, and one
// of version 2 for the others.
func (t tree) groupsFor(l Limits, name string) (groups []group, err error) {
	var unified []string // controllers
	for _, controller := range l.controllers() {
		own, err := t.own(cmp.Or(formerNames[controller], controller))
		if err != nil {
			return nil, err
		}
		if own == "" {
			unified = append(unified, controller)
			continue
		}
		if err := makeable(own); err != nil {
			return nil, err
		}
		groups = append(groups, group{Dir: filepath.Join(own, name), Files: l.files(controller, false)})
	}
	if len(unified) == 0 {
		return groups, nil
	}
	above, err := t.above(unified)
	if err != nil {
		return nil, err
	}
	g := group{Dir: filepath.Join(above, name), Unified: true}
	for _, controller := range unified {
		g.Files = append(g.Files, l.files(controller, true)...)
	}
	return append(groups, g), nil
}

// formerNames maps controllers to their names in version 1 if those differ.
var formerNames = map[string]string{"io": "blkio"}

// deviceOf returns the number, "254:0", of the disk that holds a directory: the kernel limits whole disks, not partitions.
func deviceOf(dir string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(dir, &s); err != nil {
		return "", fmt.Errorf("find the disk of %s: %w", dir, err)
	}
	device := fmt.Sprintf("%d:%d", unix.Major(s.Dev), unix.Minor(s.Dev))
	disk, err := filepath.EvalSymlinks(filepath.Join("/sys/dev/block", device))
	if err != nil {
		return "", fmt.Errorf("%s lies on no disk that the kernel could bound (device %s)", dir, device)
	}
	if _, err := os.Stat(filepath.Join(disk, "partition")); err != nil {
		return device, nil
	}
	number, err := bounded.File(filepath.Join(filepath.Dir(disk), "dev"), 1<<10)
	return strings.TrimSpace(string(number)), err
}

// own returns this process's group in the hierarchy of a controller of version 1; empty if there is none.
func (t tree) own(controller string) (dir string, err error) {
	return t.dir("cgroup", func(c procfs.Cgroup) bool { return slices.Contains(c.Controllers, controller) },
		func(m *procfs.MountInfo) bool { _, has := m.SuperOptions[controller]; return has })
}

// above returns the nearest group of version 2, from that of this process up, below which groups with these controllers can be made.
func (t tree) above(controllers []string) (dir string, err error) {
	own, err := t.dir("cgroup2", func(c procfs.Cgroup) bool { return c.HierarchyID == 0 }, func(*procfs.MountInfo) bool { return true })
	wanted := strings.Join(controllers, " and ")
	if err != nil || own == "" {
		return "", errors.Join(fmt.Errorf("this machine has no control groups for %s", wanted), err)
	}
	for dir := own; ; dir = filepath.Dir(dir) {
		handed, err := bounded.File(filepath.Join(dir, "cgroup.subtree_control"), 1<<16)
		if err != nil { // above the hierarchy
			return "", fmt.Errorf("no control group from %s up hands on what limits %s to groups below it", own, wanted)
		}
		has := func(c string) bool { return slices.Contains(strings.Fields(string(handed)), c) }
		if !slices.ContainsFunc(controllers, func(c string) bool { return !has(c) }) {
			return dir, makeable(dir)
		}
	}
}

// dir returns the directory of this process's group in a hierarchy; empty if the hierarchy is not mounted.
func (t tree) dir(kind string, ofGroup func(procfs.Cgroup) bool, ofMount func(*procfs.MountInfo) bool) (string, error) {
	fs, err := procfs.NewFS(t.mount)
	if err != nil {
		return "", err
	}
	p, err := fs.Self()
	if err != nil {
		return "", err
	}
	groups, err := p.Cgroups()
	if err != nil {
		return "", err
	}
	mounts, err := p.MountInfo()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(groups, ofGroup)
	k := slices.IndexFunc(mounts, func(m *procfs.MountInfo) bool { return m.FSType == kind && ofMount(m) })
	if i < 0 || k < 0 {
		return "", nil
	}
	below, err := filepath.Rel(mounts[k].Root, groups[i].Path)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") { // it lies outside of this container's view
		below = ""
	}
	return filepath.Join(mounts[k].MountPoint, below), nil
}

func makeable(dir string) error {
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Errorf("no control group can be made below %s: %w", dir, err)
	}
	return nil
}

// enter creates groups for the process that this thread starts next with attr. The caller is locked to its thread and calls leave
// after the start. With version 1 the thread itself enters the group, since a new process inherits its thread's groups.
func enter(groups []group, attr *syscall.SysProcAttr) (leave func(), err error) {
	var left []func()
	leave = func() {
		for _, f := range left {
			f()
		}
	}
	for _, g := range groups {
		if err := g.make(); err != nil {
			leave()
			return func() {}, fmt.Errorf("make the control group %s: %w", g.Dir, err)
		}
		if g.Unified {
			fd, err := unix.Open(g.Dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				leave()
				return func() {}, err
			}
			attr.UseCgroupFD, attr.CgroupFD = true, fd
			left = append(left, func() { _ = unix.Close(fd) })
			continue
		}
		thread := []byte(strconv.Itoa(unix.Gettid()))
		if err := os.WriteFile(filepath.Join(g.Dir, "tasks"), thread, 0); err != nil {
			leave()
			return func() {}, err
		}
		left = append(left, func() { _ = os.WriteFile(filepath.Join(filepath.Dir(g.Dir), "tasks"), thread, 0) })
	}
	return leave, nil
}
