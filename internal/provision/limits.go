package provision

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"

	"github.com/brokermark/brokermark/internal/bounded"
)

// Limits bound what each node of an instance may use, by a control group of the kernel. The zero value bounds nothing.
type Limits struct {
	CPU    float64 // cores, within each tenth of a second; 0: no bound
	Memory int64   // bytes, including page cache; 0: no bound
	IO     int64   // bytes per second read from the device of its directory, and the same for writing; 0: no bound

	device string // of IO, as the kernel numbers it: "254:0"
}

// String describes the limits: "0.2 cores, 2GiB of memory and 10MiB/s of reading and of writing".
func (l Limits) String() string {
	var bounds []string
	if l.CPU > 0 {
		bounds = append(bounds, fmt.Sprintf("%g cores", l.CPU))
	}
	if l.Memory > 0 {
		bounds = append(bounds, units.BytesSize(float64(l.Memory))+" of memory")
	}
	if l.IO > 0 {
		bounds = append(bounds, units.BytesSize(float64(l.IO))+"/s of reading and of writing")
	}
	if last := len(bounds) - 1; last > 0 {
		return strings.Join(bounds[:last], ", ") + " and " + bounds[last]
	}
	return strings.Join(bounds, "")
}

// controllers returns the kernel's controllers that the limits need, by their names of version 2.
func (l Limits) controllers() (names []string) {
	if l.CPU > 0 {
		names = append(names, "cpu")
	}
	if l.Memory > 0 {
		names = append(names, "memory")
	}
	if l.IO > 0 {
		names = append(names, "io")
	}
	return names
}

// group is a control group for one node; it is removed when its last process has ended.
type group struct {
	Dir     string
	Unified bool     // of cgroup version 2; false: of version 1
	Files   []string // pairs of name and value
}

// period is the time, in microseconds, over which the kernel enforces a group's share of the cores. It is the default of the
// kernel and of container runtimes.
const period = 100_000

// files returns the settings of a controller's group.
func (l Limits) files(controller string, unified bool) []string {
	quota, bytes := fmt.Sprint(max(1000, int64(l.CPU*period))), fmt.Sprint(l.Memory)
	perSecond := fmt.Sprintf("%s %d", l.device, l.IO)
	switch {
	case controller == "cpu" && unified:
		return []string{"cpu.max", fmt.Sprintf("%s %d", quota, period)}
	case controller == "cpu":
		return []string{"cpu.cfs_period_us", fmt.Sprint(period), "cpu.cfs_quota_us", quota}
	case controller == "io" && unified:
		return []string{"io.max", fmt.Sprintf("%s rbps=%d wbps=%d", l.device, l.IO, l.IO)}
	case controller == "io":
		return []string{"blkio.throttle.read_bps_device", perSecond, "blkio.throttle.write_bps_device", perSecond}
	case unified:
		return []string{"memory.max", bytes, "memory.swap.max", "0"}
	}
	return []string{"memory.limit_in_bytes", bytes, "memory.memsw.limit_in_bytes", bytes}
}

// absentWithoutSwap are settings that only exist if the kernel accounts for swapped memory.
var absentWithoutSwap = []string{"memory.swap.max", "memory.memsw.limit_in_bytes"}

func (g group) make() error {
	if err := os.Mkdir(g.Dir, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	for setting := range slices.Chunk(g.Files, 2) {
		name, value := setting[0], setting[1]
		err := os.WriteFile(filepath.Join(g.Dir, name), []byte(value), 0) // the kernel creates it
		if err != nil && !(os.IsNotExist(err) && slices.Contains(absentWithoutSwap, name)) {
			return fmt.Errorf("set %s to %s: %w", name, value, err)
		}
	}
	return nil
}

// outOfMemory reports whether the kernel has killed a process of the group for its memory.
func (g group) outOfMemory() bool {
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		text, _ := bounded.File(filepath.Join(g.Dir, name), 1<<16)
		for line := range strings.Lines(string(text)) {
			if count, found := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); found && count != "0" {
				return true
			}
		}
	}
	return false
}

// removeGroups removes groups whose processes have ended; the kernel may need a moment to notice that.
func removeGroups(groups []group) {
	for _, g := range groups {
		for range 200 {
			if err := os.Remove(g.Dir); err == nil || os.IsNotExist(err) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// groupsFile, in an instance's directory, lists the groups of its nodes: if tool and supervisors were killed, the next
// command removes them.
const groupsFile = "groups.json"

// limit makes the node's next processes live in groups of their own, which the supervisor creates and removes.
func (n *Node) limit(j *job) (err error) {
	c := n.Cluster
	if len(c.limits.controllers()) == 0 {
		return nil
	}
	if j.Groups, err = groupsFor(c.limits, n.Dir, fmt.Sprintf("%s-%d", c.ID, n.ID)); err != nil {
		return &ErrRefused{Broker: c.Recipe.Broker, Reason: err.Error()}
	}
	text, err := json.Marshal(j.Groups)
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(c.dir, fmt.Sprintf("node-%d.%s", n.ID, groupsFile)), text)
}

// sweepGroups removes the groups of an instance whose processes have all ended.
func sweepGroups(dir string) {
	lists, _ := filepath.Glob(filepath.Join(dir, "node-*."+groupsFile))
	for _, list := range lists {
		var groups []group
		text, err := bounded.File(list, 1<<16)
		if err != nil || json.Unmarshal(text, &groups) != nil {
			continue
		}
		groups = slices.DeleteFunc(groups, func(g group) bool { return !strings.HasPrefix(filepath.Base(g.Dir), filepath.Base(dir)+"-") })
		removeGroups(groups)
	}
}

// CanLimit returns an error that says why this machine, or this user, can't limit processes that have their data below
// DefaultDir; nil if it can. It changes nothing.
func CanLimit(l Limits) error {
	dir := DefaultDir()
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir) // the directory will be made there
	}
	_, err := groupsFor(l, dir, "bm-check")
	return err
}
