package claim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/claim"
)

func TestWhatIsWrongWithClaimsIsSaidWithItsLineAndWhatIsAllowed(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"claim: []", `c.yaml:1: claim: unknown key "claim"; allowed: claims; did you mean "claims"?`},
		{"claims: 7", `c.yaml:1: claims: "7" is not a list`},
		{"claims: [", "c.yaml:1: not YAML: "},
		{"claims: [x]", `c.yaml:1: claims[0]: "x" is not a mapping; allowed keys: absolute, all, at, best, expect`},
		{"claims: [{says: s, where: w, undecidable: u}]", "c.yaml:1: claims[0].id: missing: every claim has an id, says something, and stands somewhere"},
		{"claims:\n- {id: 1, says: s, where: w, undecidable: u}\n- {id: 1, says: s, where: w, undecidable: u}", `c.yaml:3: claims: "1" is the id of two claims`},
		{"claims: [{id: 1, says: s, where: w}]", "claims[0]: 0 statements; allowed: one of ratio, rank, shape, slope and threshold, a list of several under all, or undecidable with a reason"},
		{"claims: [{id: 1, says: s, where: w, undecidable: u, rank: {}}]", "claims[0]: undecidable, and yet there is a statement to decide"},
		{"claims: [{id: 1, says: s, where: w, all: []}]", "claims[0].all: 0 statements; allowed: one or more"},
		{"claims: [{id: 1, says: s, where: w, all: [], rank: {}}]", "claims[0]: all, and a statement beside it; allowed: one of both"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rat, threshold: {expect: {from: 1}}}]", `claims[0].metric: unknown metric "publish_rat"; closest: publish_rate, publish_mb_s, publish_max_ns`},
		{"claims: [{id: 1, says: s, where: w, threshold: {expect: {from: 1}}}]", "claims[0].threshold.metric: missing: what it is about; brokermark list metrics shows all"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {}}]", "claims[0].threshold.expect: missing: a threshold needs bounds, such as {from: 250000}"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {}}}]", "claims[0].threshold.expect: bounds nothing; allowed: from, to or both"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: 2, to: 1}}}]", "claims[0].threshold.expect: from is larger than to"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {about: 2, within: -10%}}}]", "claims[0].threshold.expect: from is larger than to"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: fast}}}]", `claims[0].threshold.expect.from: "fast" is not a number; allowed: such as 0.3, 30%, 5ms, 20MiB`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: -inf}}}]", `claims[0].threshold.expect.from: "-inf" is not a number`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {to: .inf}}}]", `claims[0].threshold.expect.to: ".inf" is not a number`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {about: 2}}}]", "claims[0].threshold.expect: allowed: from, to or both; or about and within, such as {about: 0.4, within: 10%}"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: 1}, take: most}}]", `claims[0].threshold.take: "most" is not one of each, share, max, mean, median, min`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: 1}, share: 0}}]", "claims[0].threshold.share: 0 is no share of the places; allowed: above 0 and up to 1"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: 1}, take: each, share: 50%}}]", "claims[0].threshold.share: given beside take: each; allowed: one of both"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: 1}, share: 50%, take: max}}]", "claims[0].threshold.share: given beside take: max; allowed: one of both"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, share: 50%, take: each, threshold: {expect: {from: 1}}}]", "claims[0].share: given beside take: each; allowed: one of both"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, all: [{share: 50%, take: each, threshold: {expect: {from: 1}}}]}]", "claims[0].all[0].share: given beside take: each; allowed: one of both"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, ratio: {of: {x: 1}, expect: {to: 1}}}]", "claims[0].ratio.of: missing: a ratio needs of and to"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, ratio: {of: x, to: {}, expect: {to: 1}}}]", `claims[0].ratio.of: "x" is not a selection such as {mode: at-least-once}`},
		{"claims: [{id: 1, says: s, where: w, ratio: {of: {x: 1, metric: publish_rate}, to: {x: 2}, expect: {to: 1}}}]", "claims[0].ratio.metric: missing: what the ratio is of"},
		{"claims: [{id: 1, says: s, where: w, ratio: {of: {x: 1}, to: {x: 2, metric: publish_rate}, expect: {to: 1}}}]", "claims[0].ratio.metric: missing: what the ratio is of"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, rank: {by: broker}}]", "claims[0].rank.first: missing: a rank needs one of first, second, last and order"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, rank: {by: broker, first: kafka, order: [nats]}}]", "claims[0].rank.first: missing: a rank needs one of first, second, last and order"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, rank: {by: broker, first: kafka, take: mean}}]", `claims[0].rank.take: "mean" has no meaning here; allowed: each, share`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, rank: {by: broker, first: kafka, last: nats}}]", "claims[0].rank.last: a second place; allowed: one of first, second and last"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, rank: {by: broker, frist: kafka}}]", `claims[0].rank.frist: unknown key "frist"; allowed: at, best, by, `},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, slope: {along: x}}]", "claims[0].slope.sign: missing: a slope needs one of sign, r2 and change"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, slope: {along: x, sign: up}}]", `claims[0].slope.sign: "up" is not one of rising, falling`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, shape: {along: x, form: round}}]", `claims[0].shape.form: "round" is not one of constant, rising, falling, interior maximum`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, rank: {by: broker, first: kafka, expect: {from: 2}}}]", "claims[0].rank.expect: not used by rank, only by ratio and threshold"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, expect: {from: 2}, slope: {along: x, sign: rising}}]", "claims[0].expect: not used by slope, only by ratio and threshold"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, all: [{expect: {from: 2}, shape: {along: x, form: rising}}]}]", "claims[0].all[0].expect: not used by shape, only by ratio and threshold"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: 2}, best: lowest}}]", "claims[0].threshold.best: not used by threshold, only by rank and by pool: best"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, slope: {along: x, sign: rising, r2: -0.5}}]", "claims[0].slope.r2: -0.5 is out of range; allowed: 0 to 1"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, slope: {along: x, sign: rising, r2: 95}}]", "claims[0].slope.r2: 95 is out of range; allowed: 0 to 1"},
		{"claims: [{id: 1, says: s, where: w, select: {x: {from: 3, to: 2}}, metric: publish_rate, threshold: {expect: {from: 1}}}]", "claims[0].select.x: from is larger than to"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, places: 0, threshold: {expect: {from: 1}}}]", `claims[0].places: "0" is out of range; allowed: a whole number of 1 or more`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {from: 1}, places: 2.5}}]", `claims[0].threshold.places: "2.5" is out of range; allowed: a whole number of 1 or more`},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, absolute: yes, threshold: {expect: {from: 1}}}]", `claims[0].absolute: "yes" is not one of true, false`},
		{"claims: [{id: 1, says: s, where: w, absolute: true, undecidable: u}]", "claims[0].absolute: given beside undecidable; allowed: one of both"},
		{"claims: [{id: 1, says: s, where: w, metric: publish_rate, absolute: true, rank: {by: broker, first: kafka}}]", "claims[0].absolute: not used by rank, only by threshold"},
		{"claims:\n- &c {id: 1, says: s, where: w, undecidable: u}\n" + strings.Repeat("- *c\n", 60_000), "c.yaml: more than 200000 values where each alias stands for its anchor"},
		{"claims: []\n---\nclaims: [x]", "c.yaml:2: a second document; a file holds one"},
		{"claims: []\n---\nclaims: [", "c.yaml: a second document; a file holds one"},
		{"claims: [{id: 1, says: s, where: w, experiment: [a, [b]], metric: publish_rate, threshold: {expect: {from: 1}}}]", "claims[0].experiment[1]: a list is not a text"},
		{"claims: [{id: 1, says: , where: w, undecidable: u}]", `c.yaml:1: claims[0].says: nothing is not a text`},
		{"claims: [{id: 1, says: [s], where: w, undecidable: u}]", `c.yaml:1: claims[0].says: a list is not a text`},
		{"claims: [{id: 1, id: 2, says: s, where: w, undecidable: u}]", "claims[0].id: given twice, first at line 1"},
		{"claims: [{id: 1, says: s, where: w, select: {x: {nott: 1}}, metric: publish_rate, threshold: {expect: {from: 1}}}]", `claims[0].select.x.nott: unknown key "nott"; allowed: from, not, to; did you mean "not"?`},
		{"claims: [{id: 1, says: s, where: w, select: {x: {}}, metric: publish_rate, threshold: {expect: {from: 1}}}]", `claims[0].select.x: selects nothing; allowed: from, to and not`},
		{"claims: [{id: 1, says: s, where: w, select: {x: 1, x: 2}, metric: publish_rate, threshold: {expect: {from: 1}}}]", `claims[0].select.x: given twice, first at line 1`},
	} {
		_, err := claim.Parse("c.yaml", []byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\n%v\nwant %s", test.text, err, test.want)
		}
	}
	if claims, err := claim.Parse("c.yaml", nil); claims != nil || err != nil {
		t.Errorf("an empty file: %v, %v", claims, err)
	}
}

func TestAStatementTakesWhatItsClaimSaysAndOverridesIt(t *testing.T) {
	claims, err := claim.Parse("c.yaml", []byte(`claims:
- id: 1
  says: s
  where: w
  experiment: [a, b]
  metric: publish_rate
  select: {x: [1, 2]}
  all:
  - {threshold: {expect: {from: 30%}}}
  - {experiment: c, metric: e2e_p99_ns, threshold: {take: max, expect: {about: 4ms, within: 50%}, select: {x: highest}}}
  - {ratio: {of: {metric: receive_rate, experiment: d, mode: m}, to: {}, expect: {to: 1}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := claims[0].Statements
	if s[0].Metric.Key != "publish_rate" || len(s[0].Experiments) != 2 || s[0].Expect.From != 0.3 || s[0].Take != claim.TakeEach || len(s[0].Select["x"].Any) != 2 {
		t.Errorf("inherited: %+v", s[0])
	}
	if s[1].Metric.Key != "e2e_p99_ns" || s[1].Experiments[0] != "c" || s[1].Expect != (claim.Range{From: 2e6, To: 6e6}) || s[1].Take != "max" || s[1].Select["x"].End != claim.Highest {
		t.Errorf("overridden: %+v", s[1])
	}
	of, to := s[2].Of, s[2].To
	if of.Metric.Key != "receive_rate" || of.Experiments[0] != "d" || of.Select["mode"].Any[0] != "m" || to.Metric.Key != "publish_rate" || len(to.Experiments) != 2 {
		t.Errorf("sides: %+v, %+v", of, to)
	}
}

func TestAClaimMayBeAbsoluteAndSayHowManyPlacesItSpeaksOf(t *testing.T) {
	claims, err := claim.Parse("c.yaml", []byte(`claims:
- {id: 1, says: s, where: w, metric: publish_rate, absolute: true, threshold: {expect: {from: 1}}}
- id: 2
  says: s
  where: w
  metric: publish_rate
  places: 6
  all: [{threshold: {expect: {from: 1}}}, {places: 3, threshold: {expect: {from: 1}}}, {threshold: {places: 1, expect: {from: 1}}}]
`))
	if err != nil || len(claims) != 2 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	if !claims[0].Absolute || claims[1].Absolute || claims[0].Statements[0].Places != 0 {
		t.Errorf("absolute: %v, %v", claims[0], claims[1])
	}
	for i, want := range []int{6, 3, 1} {
		if got := claims[1].Statements[i].Places; got != want {
			t.Errorf("statement %d: %d places, want %d", i+1, got, want)
		}
	}
}

func TestBoundsMayBothBeZero(t *testing.T) {
	for _, bounds := range []string{"{from: 0, to: 0}", "{about: 0, within: 5%}"} {
		claims, err := claim.Parse("c.yaml", []byte("claims: [{id: 1, says: s, where: w, metric: lost, threshold: {expect: "+bounds+"}}]"))
		if err != nil || !claims[0].Statements[0].Expect.Given() {
			t.Errorf("%s: %v", bounds, err)
		}
	}
}

func TestABoundThatIsNoNumberIsOneProblem(t *testing.T) {
	for _, bounds := range []string{"{from: fast}", "{about: fast, within: 10%}", "{about: 2, within: fast}"} {
		_, err := claim.Parse("c.yaml", []byte("claims: [{id: 1, says: s, where: w, metric: lost, threshold: {expect: "+bounds+"}}]"))
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), `"fast" is not a number`) {
			t.Errorf("%s: %v", bounds, err)
		}
	}
}

func TestWithinIsAShare(t *testing.T) {
	for _, bounds := range []string{"{about: 20ms, within: 5ms}", "{about: 0.4, within: 10}", "{from: 5ms%}"} {
		if _, err := claim.Parse("c.yaml", []byte("claims: [{id: 1, says: s, where: w, metric: lost, threshold: {expect: "+bounds+"}}]")); err == nil {
			t.Errorf("%s is taken", bounds)
		}
	}
}

func TestMetricsThatDoNotExistTakeNoLongTimeToSay(t *testing.T) {
	const claims, each = 10, 2_000
	text := "claims:\n" + strings.Repeat("- {id: a, says: b, where: c, all: ["+strings.Repeat("{threshold: {metric: nosuchmetric, expect: {from: 1}}}, ", each)+"]}\n", claims)
	began := time.Now()
	if _, err := claim.Parse("claims.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "unknown metric") {
		t.Errorf("%.200v", err)
	}
	if took := time.Since(began); took > 10*time.Second { // minutes where each is compared with all metrics
		t.Errorf("it took %s", took)
	}
}
