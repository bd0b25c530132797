package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// A broker that is held to a fifth of a core uses no more, and the record says that the limit set the pace.
func TestABrokerIsHeldToItsLimitsAndTheyAreNamed(t *testing.T) {
	testkit.NotShort(t)
	if err := provision.CanLimit(provision.Limits{CPU: 0.2, Memory: 512 << 20}); err != nil {
		testkit.Without(t, "%v", err)
	}
	r := runPoint(t, natsSpec(func(s *study.Spec) {
		s.Limits.Broker = study.Limit{CPU: 0.2, Memory: 512 << 20}
		s.Measure, s.Load.Rate, s.Duration = study.MeasurePeak, 0, study.Duration(4*time.Second)
		s.Drain = study.Duration(30 * time.Second)
	}), lab.Options{Host: newHost(t)})
	if r.Result == nil || r.Result.Cost.Shares == nil {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	if used := r.Result.Cost.Shares.Broker; used < 0.1 || used > 0.22 {
		t.Errorf("the broker used %.3f cores, 0.2 is its limit", used)
	}
	if !r.Result.Limits.Are("cpu-limit") || !hasDoubt(r, "cpu-limit") || !hasDoubt(r, "limits") {
		t.Errorf("limit %s, doubts %v", r.Result.Limits, r.Doubts)
	}
	for _, d := range r.Doubts {
		if d.Code == "limits" && !strings.HasSuffix(d.Text, "broker 0.2 cores and 512MiB of memory") {
			t.Error(d.Text)
		}
	}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "bm-nats-") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}
