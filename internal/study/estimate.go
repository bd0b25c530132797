package study

// What is assumed of a broker nobody has measured yet, for estimates of time only.
const (
	guessedRate  = 50_000.0 // messages per second
	guessedBytes = 100e6    // bytes per second
	settling     = 1.0      // seconds to drain and tidy up after a phase of load
	usualTrials  = 5        // short trials of a search
	probing      = 3.0      // seconds until a search knows where to begin
)

// EstimateSeconds is an honest guess of how long one repetition of a point takes, without starting a broker.
func EstimateSeconds(s Spec) float64 {
	warmup := s.Warmup.For.Seconds()
	if s.Warmup.Auto {
		warmup = (warmup + s.Warmup.Max.Seconds()) / 2
	}
	one := warmup + s.Duration.Seconds() + settling
	switch s.Measure {
	case MeasureSustainable:
		return searchSeconds(s.Sustainable)
	case MeasureCurve:
		if len(s.Curve.Rates) > 0 {
			return float64(len(s.Curve.Rates)) * one
		}
		return searchSeconds(s.Sustainable) + float64(len(s.Curve.Fractions))*one
	case MeasureCount:
		return warmup + sending(s, float64(s.Count.Messages), float64(s.Count.Bytes)) + settling
	case MeasureBacklog:
		return warmup + 2*sending(s, float64(s.Backlog.Messages), float64(s.Backlog.Bytes)) + settling
	}
	return one
}

// searchSeconds counts the probe, the usual number of short trials, the confirmations, and two long trials that fail but
// end early; of further goals half of that.
func searchSeconds(s Sustainable) float64 {
	around := s.Warmup.Seconds() + settling/4
	trials := float64(min(usualTrials, max(1, s.MaxTrials-s.Confirms)))
	one := (1+trials)*(around+s.Trial.Seconds()) + float64(s.Confirms)*(around+s.Confirm.Seconds()) + 2*(around+s.Confirm.Seconds()/4)
	all := one*(1+float64(len(s.Bounds())-1)/2) + s.Soak.Seconds()
	if s.Budget > 0 {
		all = min(all, float64(len(s.Bounds()))*s.Budget.Seconds())
	}
	return probing + all
}

// sending is the time to send so many messages or bytes.
func sending(s Spec, messages, bytes float64) float64 {
	mean := max(1, s.MessageSize.Mean())
	if bytes > 0 {
		messages = bytes / mean
	}
	rate := min(guessedRate, guessedBytes/mean)
	if s.Load.Rate > 0 {
		rate = s.Load.Rate
	}
	return messages / rate
}
