package provision

import (
	"context"
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Chosen meters processes of this machine that the user names: by number, by systemd unit, or by the port or address (:9092,
// 10.0.0.7:9092) on which they listen. It also meters related processes, as Foreign describes.
func Chosen(ctx context.Context, names []string) (*Foreign, error) {
	if !Metered {
		return nil, fmt.Errorf("%s doesn't say what other processes use", runtime.GOOS)
	}
	f := newForeign(procfs.DefaultMountPoint, os.Getpid())
	for _, name := range names {
		if err := f.choose(ctx, name); err != nil {
			return nil, err
		}
	}
	f.look()
	return f, nil
}

func newForeign(mount string, self int) *Foreign {
	return &Foreign{mount: mount, self: self, seen: map[identity]Usage{}, parents: map[identity]int{}}
}

func (f *Foreign) choose(ctx context.Context, name string) error {
	if strings.Contains(name, ":") {
		return f.chooseListeners(ctx, name)
	}
	if pid, err := strconv.Atoi(name); err == nil {
		s, err := f.stat(pid)
		if err != nil || s.State == "Z" || pid == f.self {
			return fmt.Errorf("no process %d to meter", pid)
		}
		id := identity{pid, s.Starttime}
		f.numbered, f.roots = append(f.numbered, id), append(f.roots, id)
		return nil
	}
	if !strings.HasSuffix(name, ".service") {
		name += ".service"
	}
	pids := f.ofUnit(name)
	if len(pids) == 0 {
		return fmt.Errorf("no process of the unit %s runs; allowed is the number of a process, a systemd unit, or a port as in :9092", name)
	}
	f.units, f.roots = append(f.units, name), append(f.roots, f.identities(pids)...)
	return nil
}

func (f *Foreign) chooseListeners(ctx context.Context, address string) error {
	var at endpoint
	if port, ok := strings.CutPrefix(address, ":"); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return fmt.Errorf("port %q is not a number up to 65535", port)
		}
		at.port = n
	} else {
		ips, port, err := f.here(ctx, address)
		if err == nil && len(ips) == 0 {
			err = fmt.Errorf("%s is not on this machine", address)
		}
		if err != nil {
			return err
		}
		at = endpoint{ips, port}
	}
	if why := f.listensOn(at); why != "" {
		return fmt.Errorf("%s: %s", address, why)
	}
	return nil
}

// ofUnit returns the processes of a systemd unit whose parents are not part of the unit.
func (f *Foreign) ofUnit(unit string) (pids []int) {
	parents := map[int]int{}
	for _, s := range processStats(f.mount) {
		if path.Base(f.service(s.PID)) == unit && s.State != "Z" {
			parents[s.PID] = s.PPID
		}
	}
	for pid, parent := range parents {
		if _, inside := parents[parent]; !inside {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// Gone reports whether, at the last reading, a process to be metered had ended and no other had taken its place.
func (f *Foreign) Gone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.partial
}

// Serves returns those of the addresses on which one of the metered processes listens.
func (f *Foreign) Serves(ctx context.Context, addresses []string) (served []string) {
	members := f.Roots()
	for _, a := range addresses {
		ips, port, err := f.here(ctx, a)
		if err != nil || len(ips) == 0 {
			continue
		}
		if pids, _ := listeners(f.mount, endpoint{ips, port}); slices.ContainsFunc(pids, func(pid int) bool { return slices.Contains(members, pid) }) {
			served = append(served, a)
		}
	}
	return served
}
