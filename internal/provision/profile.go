package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Profiler is the product's own profiler. It costs some of the broker's time, so that no rate is measured with it.
type Profiler struct {
	Name string // "Java Flight Recorder"
	// File is what it has written, below the node's directory, by the time that the node has ended.
	File string
	// Begin begins it when the cluster is ready; nil: Recipe.Command does, if Node.Profile names a file.
	Begin func(ctx context.Context, n *Node) error
}

const mostProfile = 1 << 30 // bytes

// Profile is the file to which the node has to be profiled; "" if it hasn't.
func (n *Node) Profile() string {
	if n.Cluster.profiles == "" || n.Cluster.Recipe.Profiler == nil {
		return ""
	}
	return filepath.Join(n.Dir, n.Cluster.Recipe.Profiler.File)
}

// beginProfiles is called when the cluster is ready.
func (in *Instance) beginProfiles(ctx context.Context) error {
	for _, n := range in.cluster.Nodes {
		if n.Profile() == "" || in.cluster.Recipe.Profiler.Begin == nil {
			continue
		}
		if err := in.cluster.Recipe.Profiler.Begin(ctx, n); err != nil {
			return fmt.Errorf("begin to profile node %d: %w", n.ID, err)
		}
	}
	return nil
}

// keepProfiles copies the profiles of nodes that have ended to where they were asked for: "kafka-1.jfr". What a node didn't write is missing there.
func (in *Instance) keepProfiles() {
	for _, n := range in.cluster.Nodes {
		if n.Profile() == "" {
			continue
		}
		name := in.cluster.Recipe.Profiler.File
		profile, err := n.Read(name, mostProfile)
		if err == nil {
			to := fmt.Sprintf("%s-%d%s", in.Broker(), n.ID, name[len(profileName):])
			err = os.WriteFile(filepath.Join(in.cluster.profiles, to), profile, 0o644)
		}
		if err != nil {
			in.host.log("profile of node %d: %v", n.ID, err)
		}
	}
}

// profileName begins Profiler.File; its ending says what it is.
const profileName = "profile"
