package cli

import (
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/studies/proof"
)

// The study proof/pipeline as it stands.
func TestEveryAcceptedRideIsCountedOnceThoughPartsDie(t *testing.T) {
	testkit.Long(t)
	s, err := parseStudy(proof.OfPipeline, proof.Pipeline, nil)
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	var runs []study.Run
	for _, p := range points {
		runs = append(runs, study.Run{Point: &p, Repetition: 1})
	}
	if len(runs) != 25 {
		t.Fatalf("%d points", len(runs))
	}
	for _, r := range runNow(t, runs) {
		at := r.Spec.Broker + ", " + r.Axes["sweep"] + ", " + r.Axes["part"]
		if r.Result == nil || r.Status != store.OK && r.Status != store.Void { // a busy machine voids, and that is no defect
			t.Errorf("%s: %s: %s", at, r.Status, r.Reason)
			continue
		}
		b := r.Result.Books
		if !b.Balanced() || b.Sent != 1800 || b.Duplicated+b.Corrupted != 0 || len(r.Result.Faults) != 2 {
			t.Errorf("%s: %+v after %d faults", at, b, len(r.Result.Faults))
		}
		if r.Spec.Delivery != string(driver.AtMostOnce) && (b.LostAcked != 0 || b.Acked < 1000) {
			t.Errorf("%s: of %d rides that were accepted %d are not counted", at, b.Acked, b.LostAcked)
		}
	}
}
