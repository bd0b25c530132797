package provision

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Detach lets the instance continue after this process ends; Attach finds it again.
func (in *Instance) Detach() error {
	in.mu.Lock()
	in.detached = true
	in.mu.Unlock()
	for _, m := range in.members {
		m.current().detach()
	}
	return in.save()
}

// Running lists the instances on this host that have a living node, oldest first.
func (h *Host) Running() []State {
	var list []State
	for _, dir := range h.instances() {
		if s, err := readState(dir); err == nil && s.Running > 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b State) int { return a.Began.Compare(b.Began) })
	return list
}

// Attach takes over a running instance, to query, break or Stop it. id may be a broker's name if only one instance of it
// runs. The end of a node is not reported as a death, and nodes go on running when this process ends.
func (h *Host) Attach(id string) (*Instance, error) {
	var found []State
	var ids, meant []string
	for _, s := range h.Running() {
		ids = append(ids, s.ID)
		if s.ID == id || s.Broker == id {
			found, meant = append(found, s), append(meant, s.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, fmt.Errorf("no broker is running below %s", h.Dir)
	case len(found) == 0:
		return nil, fmt.Errorf("no running broker %q; running: %s", id, strings.Join(ids, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("%d instances of %s are running, name one by its id: %s", len(found), id, strings.Join(meant, ", "))
	}
	return h.attach(found[0])
}

func (h *Host) attach(s State) (*Instance, error) {
	r, err := Lookup(s.Broker)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		Recipe: r, ID: s.ID, Version: s.Version, Install: s.Install, Settings: s.Settings, TLS: s.TLS, Login: s.Login, Facts: s.Facts,
		host: h, user: s.User, dir: filepath.Join(h.runs(), s.ID), keep: s.Keep, lent: true,
	}
	in := newInstance(h, c)
	in.began, in.detached = s.Began, true
	if in.user, err = holdUser(c.user); err != nil {
		return nil, err
	}
	if in.held, err = hold(c.dir); err != nil {
		in.release()
		return nil, err
	}
	for _, ns := range s.Nodes {
		m := &member{node: c.addNode(ns.Ports), in: in, proc: adopt(ns.Supervisor, ns.Main), expected: true}
		in.members = append(in.members, m)
		go m.watch(m.proc)
	}
	return in, nil
}

// sweepRuns removes the leftovers of crashed runs: directories whose owner and supervisors have all ended, and processes that
// still run in them. It keeps everything else: directories to be kept, those that a process still holds (even in another
// container), and those whose state can't be read or is newer than this program. It returns the IDs of the removed ones.
func (h *Host) sweepRuns() []string {
	var swept []string
	for _, dir := range h.instances() {
		if sweep(dir) {
			swept = append(swept, filepath.Base(dir))
		}
	}
	return swept
}

func sweep(dir string) bool {
	s, err := readState(dir)
	switch {
	case os.IsNotExist(err):
		if !unfinished(dir) {
			return false
		}
		if _, err := os.Lstat(filepath.Join(dir, holdFile)); err != nil { // another tool may just be making it
			return !young(dir) && os.RemoveAll(dir) == nil
		}
	case err != nil || s.Running > 0 || s.Owner.alive():
		return false
	}
	held := seize(dir)
	if held == nil {
		return false
	}
	defer held.Close()
	killBelow(dir)
	sweepGroups(dir)
	if s.Keep {
		return false
	}
	removeStubborn(dir)
	return true
}

func young(dir string) bool {
	fi, err := os.Stat(dir)
	return err != nil || time.Since(fi.ModTime()) < time.Minute
}

func (h *Host) instances() []string {
	dirs, _ := filepath.Glob(filepath.Join(h.runs(), "bm-*"))
	return dirs
}
