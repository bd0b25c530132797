package provision

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// Foreign meters brokers that were not started here: the processes that listen on their addresses (or that the user named), their
// descendants, and the other processes of the same service or container. Safe for use by several goroutines.
type Foreign struct {
	mount     string
	self      int
	endpoints []endpoint
	units     []string   // of systemd
	numbered  []identity // named by number: no other process replaces them

	mu      sync.Mutex
	roots   []identity
	partial bool       // a listening process has ended, and no replacement was found
	members []identity // parents first
	parents map[identity]int
	seen    map[identity]Usage // as last read
	past    Usage              // of members that ended without another member to reap them
	scanned time.Time
	high    Usage // the largest sums so far
}

// Sample takes a reading.
//
// The usage of an ended member is part of the figures of the parent that reaped it, if that is a member too; otherwise its
// last reading is kept.
func (f *Foreign) Sample() Usage {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.scanned) >= rescan {
		f.look()
	}
	sum := f.past
	alive := f.members[:0]
	for _, id := range f.members {
		u, ok := f.usage(id)
		if !ok {
			f.lose(id, &sum)
			continue
		}
		alive = append(alive, id)
		f.seen[id] = u
		sum.add(u)
	}
	f.members = alive
	return sum.rise(&f.high)
}

// lose records the end of a member. Parents come first, so a parent that is still in seen has just been read.
func (f *Foreign) lose(id identity, sum *Usage) {
	last := f.seen[id]
	delete(f.seen, id)
	for parent := range f.seen {
		if parent.PID == f.parents[id] {
			return
		}
	}
	last.RSSBytes, last.Processes = 0, 0
	f.past.add(last)
	sum.add(last)
}

func (f *Foreign) usage(id identity) (Usage, bool) {
	s, err := f.stat(id.PID)
	if err != nil || s.Starttime != id.Start {
		return Usage{}, false
	}
	u := used(s)
	if u.Processes > 0 {
		u.Disk = diskOf(f.process(id.PID))
	}
	return u, true
}

func (f *Foreign) process(pid int) (procfs.Proc, error) {
	fs, err := procfs.NewFS(f.mount)
	if err != nil {
		return procfs.Proc{}, err
	}
	return fs.Proc(pid)
}

func (f *Foreign) stat(pid int) (procfs.ProcStat, error) {
	p, err := f.process(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

// look finds new members. If a listening process has ended, another may listen in its place.
func (f *Foreign) look() {
	f.scanned = time.Now()
	all := processStats(f.mount)
	if len(all) == 0 { // it can't be read now
		return
	}
	f.relook()
	services := f.services()
	children := map[int][]procfs.ProcStat{}
	var next []procfs.ProcStat
	for _, s := range all {
		children[s.PPID] = append(children[s.PPID], s)
		isRoot := slices.Contains(f.roots, identity{s.PID, s.Starttime})
		if isRoot || len(services) > 0 && slices.Contains(services, f.service(s.PID)) {
			next = append(next, s)
		}
	}
	met := map[int]bool{f.self: true}
	for len(next) > 0 {
		s := next[0]
		next = next[1:]
		if met[s.PID] {
			continue
		}
		met[s.PID] = true
		id := identity{s.PID, s.Starttime}
		f.parents[id] = s.PPID
		if !slices.Contains(f.members, id) {
			f.members = append(f.members, id)
		}
		next = append(next, children[s.PID]...)
	}
}

// relook looks for processes that have replaced ended listening ones.
func (f *Foreign) relook() {
	alive := func(id identity) bool {
		s, err := f.stat(id.PID)
		return err == nil && s.Starttime == id.Start && s.State != "Z"
	}
	n := len(f.roots)
	f.roots = slices.DeleteFunc(f.roots, func(id identity) bool { return !alive(id) })
	if f.partial = f.partial || len(f.roots) < n; !f.partial {
		return
	}
	f.partial = false
	found := func(pids []int) {
		for _, id := range f.identities(pids) {
			if !slices.Contains(f.roots, id) {
				f.roots = append(f.roots, id)
			}
		}
	}
	for _, e := range f.endpoints {
		pids, why := f.behind(e)
		found(pids)
		f.partial = f.partial || why != ""
	}
	for _, unit := range f.units {
		pids := f.ofUnit(unit)
		found(pids)
		f.partial = f.partial || len(pids) == 0
	}
	f.partial = f.partial || slices.ContainsFunc(f.numbered, func(id identity) bool { return !alive(id) })
}

// services returns the control groups of the roots that belong to a single service or container, except this process's own.
func (f *Foreign) services() []string {
	var list []string
	mine := f.service(f.self)
	for _, id := range f.roots {
		if group := f.service(id.PID); group != "" && !strings.HasPrefix(mine+"/", group+"/") {
			list = append(list, group)
		}
	}
	return list
}

func (f *Foreign) identities(pids []int) []identity {
	var ids []identity
	for _, pid := range pids {
		if s, err := f.stat(pid); err == nil {
			ids = append(ids, identity{pid, s.Starttime})
		}
	}
	return ids
}

// Roots returns the processes whose trees this meter reads.
func (f *Foreign) Roots() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var pids []int
	for _, id := range f.members {
		pids = append(pids, id.PID)
	}
	return pids
}

// PIDs returns the broker's processes as of the last reading.
func (f *Foreign) PIDs() []int { return f.Roots() }

// String names the listening processes.
func (f *Foreign) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, id := range f.roots {
		if s, err := f.stat(id.PID); err == nil {
			names = append(names, fmt.Sprintf("%s, process %d", s.Comm, id.PID))
		}
	}
	return strings.Join(names, "; ")
}
