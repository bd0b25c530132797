package claim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/results"
)

// In each of many studies the places have figures that scatter alike around what is said of them, so that the answer is wrong. It comes in
// at most 5 % of all cases, also where one place alone makes it: the largest is as large as any place shows, the median as that of the places beside
// which the others are far away, and a share of the places is reached by one more.
func TestOnePlaceOfManyMakesNoAnswerByChance(t *testing.T) {
	const studies = 300
	equal := []float64{100, 100, 100, 100, 100, 100, 100, 100}
	for _, c := range []struct {
		statement string
		truth     []float64
		wrong     claim.Verdict
	}{
		{"threshold: {take: max, expect: {from: 100.001}}", equal, claim.Reproduced},
		{"threshold: {take: max, expect: {to: 100}}", equal, claim.NotReproduced},
		{"threshold: {take: min, expect: {to: 99.999}}", equal, claim.Reproduced},
		{"over: [], pool: max, threshold: {expect: {from: 100.001}}", equal, claim.Reproduced},
		{"over: [], pool: min, threshold: {expect: {from: 100}}", equal, claim.NotReproduced},
		{"over: [], pool: median, threshold: {expect: {from: 100}}", []float64{1, 1, 1, 1, 100, 100, 100, 100, 100}, claim.NotReproduced},
		{"threshold: {share: 50%, expect: {from: 100.001}}", []float64{100, 100, 100, 100, 100, 900, 900, 900}, claim.Reproduced},
		{"threshold: {share: 50%, expect: {from: 100}}", []float64{100, 100, 100, 100, 1, 1, 1, 1}, claim.NotReproduced},
		{"shape: {along: x, form: rising}", equal, claim.NotReproduced},
		{"shape: {along: x, form: constant, within: 0}", []float64{100, 100, 100, 100, 100}, claim.NotReproduced},
		{"rank: {by: x, first: 0}", []float64{100.001, 100, 100, 100, 100, 100, 100, 100}, claim.NotReproduced},
	} {
		random, wrong := rand.New(rand.NewPCG(8, 16)), 0
		for range studies {
			var points []at
			for x, middle := range c.truth {
				p := at{axes: fmt.Sprintf("x=%d", x)}
				for range 3 {
					p.rates = append(p.rates, middle*math.Exp(0.05*random.NormFloat64()))
				}
				points = append(points, p)
			}
			if evaluate(parse(t, c.statement), results.Of(records(points...)), "s", claim.Now).Verdict == c.wrong {
				wrong++
			}
		}
		t.Logf("%s: %d of %d", c.statement, wrong, studies)
		if wrong > studies/20 {
			t.Errorf("%s: %d of %d studies are %s by chance", c.statement, wrong, studies, c.wrong)
		}
	}
}
