package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/advise/advisetest"
	"github.com/brokermark/brokermark/internal/store"
)

func TestAnEmptyStoreHasNothingToRecommend(t *testing.T) {
	db := filepath.Join(t.TempDir(), "s.db")
	st, err := store.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if r := brokermark(t, "report", "recommend", "--store", db).want(t, 0); !strings.Contains(r.out, "The store holds no record yet: nothing was measured.") {
		t.Error(r.out)
	}
}

// What is asked of a broker is kept if one contender keeps it, and missed if none does.
func TestALoserOfAnAdviceMissesNoObjective(t *testing.T) {
	quick := advisetest.Planted{Name: "quick", P99: 3 * time.Millisecond, Capacity: 50_000, Cost: 2}
	slow := advisetest.Planted{Name: "slow", P99: 60 * time.Millisecond, Capacity: 50_000, Cost: 1}
	lossy := advisetest.Planted{Name: "lossy", P99: time.Millisecond, Capacity: 50_000, Cost: 1, Loses: true}
	for want, contenders := range map[int][]advisetest.Planted{0: {slow, quick, lossy}, 7: {slow, lossy}} {
		w := advise.Wish{Rate: 1000, Peak: 2000, P99: 20 * time.Millisecond, Hold: 10 * time.Second}
		for i, p := range contenders {
			w.Contenders = append(w.Contenders, advise.Contender{Name: p.Name, Set: map[string]any{"broker": "sim", "client": map[string]any{"seed": i}}})
		}
		s, err := w.Study("test")
		if err != nil {
			t.Fatal(err)
		}
		points, err := s.Points()
		if err != nil {
			t.Fatal(err)
		}
		db := filepath.Join(t.TempDir(), "s.db")
		st, err := store.Open(db)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range advisetest.Measured(points, 3, contenders...) {
			if _, err := st.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		r := brokermark(t, "report", "--store", db).want(t, want)
		if strings.Contains(r.err, "slow") != (want != 0) {
			t.Errorf("with the exit code %d: %s", want, r.err)
		}
	}
}
