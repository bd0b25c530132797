package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestASentenceAboutManyNamesTheFirstAndTheLast(t *testing.T) {
	var many []Contender
	for i := range 30 {
		v := float64(i+1) * 1e6
		many = append(many, Contender{fmt.Sprintf("c%d", i), []float64{v}, v, v})
	}
	want := "c0 1.00 ms (n=1), c1 2.00 ms (n=1), c2 3.00 ms (n=1), c3 4.00 ms (n=1), 25 more and c29 30.0 ms (n=1)"
	r := Rank(metric("e2e_p99_ns"), many)
	if got := r.String(); !strings.Contains(got, want) {
		t.Errorf("got %q, want it to name %q", got, want)
	}
	if got, want := r.Short(), "c3 4.00 ms, 25 more and c29 30.0 ms"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end in %q", got, want)
	}
}
