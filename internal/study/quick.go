package study

import "slices"

// Quick shortens every point to a few seconds, for a first look: shorter phases and trials, one confirmation, three rates of a
// curve, small counts and backlogs. It keeps settings overridden by Set or SetAxis. The changes are part of the spec, so quick
// points are points of their own.
func (s *Study) Quick() { s.quick = true }

func shorten(s *Spec, d *draft) {
	free := func(path string) bool {
		return !slices.ContainsFunc(d.under(path), func(p string) bool { return d.given[p].rank == rankFlags })
	}
	atMost := func(path string, t *Duration, most float64) {
		if free(path) {
			*t = min(*t, seconds(most))
		}
	}
	full := s.Duration
	if len(s.Faults) == 0 { // faults have fixed times
		atMost("duration", &s.Duration, 4)
		atMost("warmup.for", &s.Warmup.For, 1)
		atMost("warmup.max", &s.Warmup.Max, 3)
	}
	if s.Warmup.Auto {
		s.Warmup.Max = max(s.Warmup.Max, s.Warmup.For)
	}
	shortenLoad(&s.Load, float64(s.Duration)/float64(max(1, full)))
	atMost("sustainable.trial", &s.Sustainable.Trial, 1)
	atMost("sustainable.confirm", &s.Sustainable.Confirm, 2)
	atMost("sustainable.warmup", &s.Sustainable.Warmup, 0.5)
	atMost("sustainable.soak", &s.Sustainable.Soak, 2)
	if free("sustainable.confirms") {
		s.Sustainable.Confirms = min(s.Sustainable.Confirms, 1)
	}
	if free("curve") {
		s.Curve.Fractions, s.Curve.Rates = three(s.Curve.Fractions), three(s.Curve.Rates)
	}
	if free("count") {
		s.Count.Messages = min(s.Count.Messages, 100_000)
		s.Count.Bytes = shortBytes(s.Count.Bytes, s)
	}
	if free("backlog") {
		s.Backlog.Messages = min(s.Backlog.Messages, 20_000)
		s.Backlog.Bytes = shortBytes(s.Backlog.Bytes, s)
	}
}

func shortBytes(b Size, s *Spec) Size {
	return min(b, max(20_000_000, s.MessageSize.Largest()))
}

// shortenLoad shortens a load that changes with time by the same factor as the measured phase.
func shortenLoad(l *Load, factor float64) {
	squeeze := func(t Duration) Duration { return max(1, Duration(float64(t)*factor)) }
	if factor == 1 {
		return
	}
	given := l.Steps
	l.Steps = nil
	for _, s := range given {
		l.Steps = append(l.Steps, Step{s.Rate, s.To, squeeze(s.For)})
	}
	if l.Burst != nil {
		l.Burst = &Burst{l.Burst.Rate, squeeze(l.Burst.Every), squeeze(l.Burst.For)}
	}
}

// three keeps the first, the middle and the last element of a longer list.
func three(list []float64) []float64 {
	if n := len(list); n > 3 {
		return []float64{list[0], list[n/2], list[n-1]}
	}
	return list
}
