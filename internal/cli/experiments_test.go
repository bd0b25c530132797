package cli

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/studies"
)

// firstOfEach is the first point of each experiment, at the versions of each time and with each broker. Points with
// equal brokers follow each other, so that they share one.
func firstOfEach(points []study.Point) []study.Run {
	type experiment struct{ name, when, broker string }
	var runs []study.Run
	var seen []experiment
	for _, p := range points {
		e := experiment{p.Axes["sweep"], p.Axes["when"], p.Spec.Broker}
		if !slices.Contains(seen, e) {
			seen = append(seen, e)
			p.Spec.BrokerWarmup = min(p.Spec.BrokerWarmup, study.Duration(2*time.Second)) // what is measured is not looked at
			p.ID = p.Spec.ID()
			runs = append(runs, study.Run{Point: &p, Repetition: 1})
		}
	}
	slices.SortStableFunc(runs, func(a, b study.Run) int {
		x, y := a.Point.Spec, b.Point.Spec
		return cmp.Or(cmp.Compare(x.Broker, y.Broker), cmp.Compare(x.Version, y.Version), cmp.Compare(x.Nodes, y.Nodes))
	})
	return runs
}

func TestOnePointOfEachExperimentOfEachStudyIsMeasured(t *testing.T) {
	testkit.Long(t)
	for _, name := range studies.Names() {
		data, folder, err := readStudy(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseStudy(name+".yaml", data, folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(s.Scales(), study.SmokeTest) {
				s.Quick()
			} else if err := s.Scale(study.SmokeTest); err != nil {
				t.Fatal(err)
			}
			points, err := s.Points()
			if err != nil {
				t.Fatal(err)
			}
			runs := firstOfEach(points)
			for _, r := range runNow(t, runs) {
				at := r.Axes["sweep"] + " " + r.Axes["when"] + " " + r.Label
				refused := lab.Possible(r.Spec)
				switch {
				case r.Status == store.Refused && refused != nil && refused.Error() == r.Reason: // as check says, of this machine
					t.Logf("%s: refused: %s", at, r.Reason)
				case r.Status == store.Void: // by a busy machine, which is no defect; a search may then have nothing at all
					t.Logf("%s: void: %s", at, r.Reason)
				case r.Status == store.Refused && provision.CanLimit(provision.Limits{CPU: r.Spec.Limits.Server.CPU}) != nil:
					t.Logf("%s: this machine has no such limits: %s", at, r.Reason)
				case r.Status != store.OK:
					t.Errorf("%s: %s: %s", at, r.Status, r.Reason)
				case r.Result == nil || r.Result.Books.Sent == 0:
					t.Errorf("%s: nothing was measured", at)
				}
			}
		})
	}
}

// runNow runs each of runs and returns their records.
func runNow(t *testing.T, runs []study.Run) []store.Record {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := lab.Run(t.Context(), runs, lab.Options{Host: host, Store: db, Watch: func(lab.Event) {}}); err != nil {
		t.Fatal(err)
	}
	records, err := db.Records(t.Context(), store.Filter{})
	if err != nil || len(records) != len(runs) {
		t.Fatalf("%d records of %d runs: %v", len(records), len(runs), err)
	}
	return records
}
