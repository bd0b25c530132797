package studies_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/study"
)

// unobtainable reports whether nothing can be measured of a combination: Pulsar 3 is not served, so that nothing of Pulsar is
// measured then.
func unobtainable(when, words string) bool {
	return when == "then" && strings.HasPrefix(words, "pulsar ")
}

// missing counts the unobtainable combinations of a paper.
func missing(paper map[string]ran, when string) (n int) {
	for _, r := range paper {
		r.of(func(words string) {
			if unobtainable(when, words) {
				n++
			}
		})
	}
	return n
}

// hours is how long a study is estimated to take.
func hours(s *study.Study, points []study.Point) float64 {
	seconds := 0.0
	for range s.Repeats {
		brokers := study.Started{}
		for _, p := range points {
			seconds += study.EstimateSeconds(p.Spec) + brokers.Seconds(lab.SharedBroker(p.Spec), p.Spec)
		}
	}
	return seconds / 3600
}

func TestThePaperScaleIsRepeatedAndTakesSixHoursAtMost(t *testing.T) {
	for _, name := range []string{"nilsson-pregen-2020", "dyjach-2024"} {
		s, points := open(t, name, "paper")
		h := hours(s, points)
		t.Logf("%s: %d points, %d repetitions, %.1f h", name, len(points), s.Repeats, h)
		if s.Repeats != 3 || h < 1 || h > 6 {
			t.Errorf("%s: %d repetitions in %.1f h; want 3 in one to six", name, s.Repeats, h)
		}
	}
}

// At each size and guarantee something of each broker has to be measured, so that the ranks have all the places that the
// thesis speaks of; at the ends and in the middle all twelve settings.
func TestThePaperScaleOfTheSecondStudyHasEveryPlaceOfItsConclusions(t *testing.T) {
	_, points := open(t, "nilsson-pregen-2020", "paper")
	brokers, settings := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, p := range points {
		a, size := p.Axes, p.Spec.MessageSize.Largest()
		add(brokers, fmt.Sprintf("%s %d B %s", a["when"], size, a["guarantee"]), a["sweep"])
		add(settings, fmt.Sprintf("%s %d B", a["when"], size), a["sweep"]+" "+a["guarantee"]+" "+a["order"]+a["store"])
		if p.Spec.Duration.String() != "10s" {
			t.Errorf("%s: %s of data, not the 10 s of section 3.5.2", p.Label, p.Spec.Duration)
		}
	}
	for _, when := range []string{"then", "now"} {
		for _, size := range nilssonSizes {
			for _, guarantee := range []string{"at-most-once", "at-least-once"} {
				if place := fmt.Sprintf("%s %d B %s", when, size, guarantee); len(brokers[place]) != 3 {
					t.Errorf("%s: %v", place, brokers[place])
				}
			}
			of := settings[fmt.Sprintf("%s %d B", when, size)]
			both := of["kafka at-most-once ordered"] && of["kafka at-most-once unordered"] && of["kafka at-least-once ordered"] && of["kafka at-least-once unordered"]
			if (size == 8 || size == 4096 || size == 1048000) && len(of) != 12 {
				t.Errorf("%s, %d B: %d of 12 settings", when, size, len(of))
			}
			if size == 512 && !both { // claim 11
				t.Errorf("%s, %d B: %v", when, size, of)
			}
		}
	}
}

func add(sets map[string]map[string]bool, key, value string) {
	if sets[key] == nil {
		sets[key] = map[string]bool{}
	}
	sets[key][value] = true
}

func TestTheFiguresOfTheSecondStudyAreOfAllTwelveSettings(t *testing.T) {
	s, _ := open(t, "nilsson-pregen-2020", study.Full)
	curves, bars := map[string]bool{}, 0
	for _, e := range s.Exhibits {
		switch {
		case strings.HasPrefix(e.Title, "Figures 4.3 to 4.6"):
			curves[e.Experiment+" "+e.Where["guarantee"]+" "+e.Where["order"]+e.Where["store"]] = e.Place == "section 4.1.2" && e.Series == "messageSize"
		case strings.HasPrefix(e.Title, "Figure 4.2"):
			if bars++; len(e.Columns) != 2 || e.Columns[0].Name != "knee_rate" || e.Columns[1].Name != "sustainable_low" || e.Place != "section 4.1.1" {
				t.Errorf("%s: not both ways of judging, or in %s", e.Title, e.Place)
			}
		}
	}
	if bars != 6 || len(curves) != 12 {
		t.Errorf("%d of 6 charts of figure 4.2, %d of 12 settings in figures 4.3 to 4.6", bars, len(curves))
	}
	for setting, good := range curves {
		if !good {
			t.Errorf("%s: by another series, or in another place", setting)
		}
	}
}

func TestThePaperScaleOfTheFifthStudyHasTheNumbersOfTheArticle(t *testing.T) {
	_, points := open(t, "dyjach-2024", "paper")
	for _, p := range points {
		switch s := p.Spec; s.Measure {
		case study.MeasureBacklog:
			if s.Backlog.Messages != 10_000 {
				t.Errorf("%s: %d messages", p.Label, s.Backlog.Messages)
			}
		case study.MeasureRate:
			if s.Load.Rate != 40 || s.Duration != study.Duration(time.Minute) {
				t.Errorf("%s: %g/s for %s", p.Label, s.Load.Rate, s.Duration)
			}
		}
		if p.Axes["when"] == "then" && p.Spec.Broker == "pulsar" {
			t.Errorf("%s: of a version that isn't served", p.Label)
		}
	}
}
