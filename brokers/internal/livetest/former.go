package livetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Serves proves in a few seconds that a version does its work: messages arrive, a backlog outlives kill -9, and
// stopping it leaves no process and no file. A version that isn't installed here is left to make proof.
func Serves(t *testing.T, o provision.Options, g driver.Guarantee, topic map[string]any) {
	t.Helper()
	host := host(t)
	if len(host.Installed(o.Broker, o.Version)) > 0 {
		testkit.Long(t)
	}
	o.Deadline = startBound
	in, err := host.Start(t.Context(), o)
	Must(t, err)
	t.Run("messages arrive, before and after a kill", func(t *testing.T) { serves(t, in, g, topic) })
	log := in.LogTail(1, 30)
	Must(t, in.Stop(context.Background()))
	if left := remains(t, in.ID(), filepath.Dir(in.LogPath(1))); len(left) > 0 {
		t.Errorf("%s %s left behind: %q", o.Broker, o.Version, left)
	}
	if t.Failed() {
		t.Logf("the last lines of node 1:\n%s", strings.Join(log, "\n"))
	}
}

const some = 2000

func serves(t *testing.T, in *provision.Instance, g driver.Guarantee, topic map[string]any) {
	r := Open(t, in.Broker(), Config(t, in.Broker(), TargetOf(in), g, nil, topic), Topic("serves", 1, "s"))
	end := r.Consume(t, driver.ConsumerConfig{})
	post := func(word string) {
		for n := range some {
			r.Post(t, fmt.Sprint(word, n))
		}
	}
	post("first ")
	r.Settled(t)
	end()
	post("backlog ")
	Eventually(t, "the backlog is acknowledged", func() bool { return r.Count().Pending == 0 })
	for node := range in.Nodes() {
		Must(t, Restart(t.Context(), in, node+1))
		if in.Nodes() > 1 {
			_, err := in.InSync(t.Context(), g.Replicas)
			Must(t, err)
		}
	}
	r.Consume(t, driver.ConsumerConfig{})
	r.Settled(t)
	post("afterwards ")
	r.Settled(t)
	if c := r.Count(); c.Failed > 0 {
		t.Errorf("%d of %d messages failed: %v", c.Failed, 3*some, c.LastErr)
	}
}

// remains returns the command lines of processes that name the instance, and its directory if that is left.
func remains(t *testing.T, id, dir string) (left []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	Must(t, err)
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.Contains(string(line), id) {
			left = append(left, string(line))
		}
	}
	if _, err := os.Stat(dir); err == nil {
		left = append(left, dir)
	}
	return left
}
