//go:build !linux || portable

package provision

import "errors"

// CanHoldInMemory returns an error that says why nodes can't have their data in memory here.
func CanHoldInMemory(int64) error {
	return errors.New("only Linux mounts a file system in memory for a broker")
}

func (n *Node) holdInMemory(int64) error {
	return &ErrRefused{Broker: n.Cluster.Recipe.Broker, Reason: CanHoldInMemory(0).Error()}
}

func letGo(string) {}
