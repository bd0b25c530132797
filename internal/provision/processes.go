package provision

import "context"

// Processes lists the process IDs of a running node, its supervisor left out. Node counts from 1.
func (in *Instance) Processes(node int) ([]int, error) {
	_, p, err := in.running(node)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, d := range descendants(p.Supervisor.PID) {
		if d.State != "Z" && d.State != "X" {
			list = append(list, d.PID)
		}
	}
	return list, nil
}

// Meet sees to it that needs are on this machine: it installs Debian packages where we are root and answers with
// *ErrMissing where it can't.
func (h *Host) Meet(ctx context.Context, needs ...Need) error { return h.meet(ctx, needs) }
