package study

import (
	"math"
	"os"
	"testing"
	"time"
)

func TestOpenMessagingBenchmarkFilesRunUnchanged(t *testing.T) {
	minutes := func(m float64) Duration { return Duration(m * float64(time.Minute)) }
	for _, c := range []struct {
		file string
		want func(*Spec)
	}{
		{"simple", func(s *Spec) {
			s.Name = "One producer on one topic of ten partitions"
			s.PartitionsPerTopic, s.MessageSize = 10, Sizes{{64, 1}}
			s.Measure, s.Load.Rate, s.Duration, s.Warmup.For = MeasureRate, 10_000, minutes(5), minutes(1)
			s.Sustainable = Sustainable{}
			s.UseRandomizedPayloads, s.RandomBytesRatio, s.RandomizedPayloadPoolSize = false, 0, 0
			s.PayloadFile = "testdata/payload/sixtyfour.data"
		}},
		{"max-rate", func(s *Spec) {
			s.Name, s.Measure = "max-rate-4-topics-1kb", MeasureSustainable
			s.Topics, s.PartitionsPerTopic, s.ProducersPerTopic = 4, 16, 2
			s.SubscriptionsPerTopic, s.ConsumerPerSubscription = 2, Consumers{3}
			s.KeyDistributor, s.MessageSize = "KEY_ROUND_ROBIN", Sizes{{1024, 1}}
			s.RandomBytesRatio, s.RandomizedPayloadPoolSize = 0.25, 500
			s.InFlight.Bytes = 8 << 20
		}},
		{"wide", func(s *Spec) {
			s.Name = "A million topics of four producers and four consumers"
			s.Topics, s.ProducersPerTopic, s.ConsumerPerSubscription = 1_000_000, 4, Consumers{4}
			s.MessageSize, s.RandomizedPayloadPoolSize = Sizes{{1024, 1}}, 1000
			s.Measure, s.Load.Rate, s.Duration, s.Warmup.For = MeasureRate, 2_000_000, minutes(5), minutes(1)
			s.Sustainable = Sustainable{}
			s.InFlight, s.Connections = InFlight{Messages: 1, Bytes: 1024}, 1
		}},
		{"backlog", func(s *Spec) {
			s.Name, s.Measure = "100k-backlog-2gb", MeasureBacklog
			s.Topics, s.PartitionsPerTopic = 10, 3
			s.KeyDistributor, s.MessageSize = "RANDOM_NANO", Sizes{{1024, 1}}
			s.Load.Rate, s.Duration, s.Warmup.For, s.Drain = 100_000, minutes(15), 0, minutes(10)
			s.Backlog = Backlog{Bytes: 2 << 30, DrainRatio: 0.99, KeepSending: true}
			s.Sustainable = Sustainable{}
			s.InFlight.Bytes = 64 << 20 / 10
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			got := read(t, "testdata/omb/"+c.file+".yaml").Spec
			want := Defaults()
			c.want(&want)
			want.Label, want.PayloadDigest = got.Label, got.PayloadDigest
			same(t, got, want)
		})
	}
}

// The fork's generator goes evenly from one rate to the next, around the day; its list begins with the warm-up.
func TestRatesByTimeGoEvenlyAroundTheDay(t *testing.T) {
	const h, m = time.Hour, time.Minute
	for name, c := range map[string]struct {
		file string
		want map[time.Duration]float64 // by the offset from the start of the measured phase
	}{
		"of the day": {"testDurationMinutes: 1800\nwarmupDurationMinutes: 0\nproducerRate: 19200\nproducerRateList: [[4, 0, 10000], [4, 30, 200000], [5, 0, 10000], [20, 0, 18000]]", map[time.Duration]float64{
			0: 14000, 4 * h: 10000, 4*h + 15*m: 105000, 4*h + 30*m: 200000, 4*h + 45*m: 105000, 5 * h: 10000, 20 * h: 18000, 22 * h: 16000, 28*h + 15*m: 105000,
		}},
		"after the warm-up": {"testDurationMinutes: 60\nwarmupDurationMinutes: 5\nproducerRateList: [[0, 1000], [10, 2000], [20, 4000]]", map[time.Duration]float64{
			0: 1500, 5 * m: 2000, 10 * m: 3000, 15 * m: 4000, 24*h - 5*m: 1000, 24 * h: 1500,
		}},
		"after the usual warm-up": {"testDurationMinutes: 60\nproducerRateList: [[10, 2000], [0, 1000]]", map[time.Duration]float64{0: 1100, 9 * m: 2000}},
		"one rate":                {"testDurationMinutes: 60\nproducerRateList: [[7, 0, 500]]", map[time.Duration]float64{0: 500, h: 500}},
	} {
		s, err := Parse("f.yaml", []byte(c.file))
		if err != nil {
			t.Fatal(name, err)
		}
		points, err := s.Points()
		if err != nil {
			t.Fatal(name, err)
		}
		l := points[0].Spec.Load
		if points[0].Spec.Measure != MeasureRate || l.Shape != steps || !l.Repeat || l.Rate != 0 {
			t.Errorf("%s: measure %s, %+v", name, points[0].Spec.Measure, l)
		}
		var all time.Duration
		for _, s := range l.Steps {
			all += time.Duration(s.For)
		}
		if all != 24*h {
			t.Errorf("%s: the steps take %s, not a day", name, all)
		}
		for at, want := range c.want {
			left := at % all
			for _, s := range l.Steps {
				if length := time.Duration(s.For); left >= length {
					left -= length
				} else {
					if got := s.Rate + (s.End()-s.Rate)*left.Seconds()/length.Seconds(); math.Abs(got-want) > 1e-6*want {
						t.Errorf("%s: %v/s at %s, want %v", name, got, at, want)
					}
					break
				}
			}
		}
	}
}

// A workload is run flat out, or for another time, without touching the file.
func TestOverridesGoBeforeWhatAWorkloadFileSays(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		set  []string
		want func(*testing.T, Spec)
	}{
		"its rate means nothing to a search": {"simple", []string{"measure=sustainable"}, func(t *testing.T, s Spec) {
			if s.Load.Rate != 0 || s.Measure != MeasureSustainable {
				t.Errorf("got %s at %v", s.Measure, s.Load.Rate)
			}
		}},
		"rate 0 asks for a search": {"simple", []string{"producerRate=0"}, func(t *testing.T, s Spec) {
			if s.Load.Rate != 0 || s.Measure != MeasureSustainable {
				t.Errorf("got %s at %v", s.Measure, s.Load.Rate)
			}
		}},
		"a rate ends the search": {"max-rate", []string{"producerRate=500"}, func(t *testing.T, s Spec) {
			if s.Load.Rate != 500 || s.Measure != MeasureRate || s.Duration.String() != "15m" || s.Warmup.For.String() != "2m" {
				t.Errorf("got %s at %v for %s after %s", s.Measure, s.Load.Rate, s.Duration, s.Warmup.For)
			}
		}},
		"another time, our warm-up": {"simple", []string{"duration=3s"}, func(t *testing.T, s Spec) {
			if s.Duration.String() != "3s" || s.Warmup.For.String() != "5s" {
				t.Errorf("got %s after %s", s.Duration, s.Warmup.For)
			}
		}},
		"a part of a minute": {"simple", []string{"testDurationMinutes=0.1", "warmupDurationMinutes=0"}, func(t *testing.T, s Spec) {
			if s.Duration.String() != "6s" || s.Warmup.For != 0 {
				t.Errorf("got %s after %s", s.Duration, s.Warmup.For)
			}
		}},
		"a backlog of messages": {"backlog", []string{"backlog.messages=1000"}, func(t *testing.T, s Spec) {
			if s.Backlog.Messages != 1000 || s.Backlog.Bytes != 0 {
				t.Errorf("got %+v", s.Backlog)
			}
		}},
		"a size instead of the file": {"simple", []string{"size=100"}, func(t *testing.T, s Spec) {
			if s.PayloadFile != "" || s.MessageSize.String() != "100" || !s.UseRandomizedPayloads {
				t.Errorf("got %q, %s", s.PayloadFile, s.MessageSize)
			}
		}},
		"no payload file": {"simple", []string{"payloadFile="}, func(t *testing.T, s Spec) {
			if s.PayloadFile != "" || !s.UseRandomizedPayloads || s.RandomBytesRatio != 0.5 {
				t.Errorf("got %q, %v", s.PayloadFile, s.RandomBytesRatio)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) { c.want(t, read(t, "testdata/omb/"+c.file+".yaml", c.set...).Spec) })
	}
}

// read expands a file of one point.
func read(t *testing.T, file string, set ...string) Point {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range set {
		if err := s.Set(x); err != nil {
			t.Fatal(err)
		}
	}
	points := expand(t, s)
	if len(points) != 1 {
		t.Fatalf("got %d points", len(points))
	}
	return points[0]
}
