package exchange

import (
	"time"

	"gonum.org/v1/gonum/stat"
)

// periods are the ends of the periods that lists over time have values of, from the beginning of the measured phase: 10 s,
// 20 s and 25 s for a phase of 25 s.
type periods []time.Duration

// periods are ten seconds each. In a file that ToOMB wrote the last one ends with the measured phase.
func (o OMB) periods() periods {
	var ends periods
	for i := range o.PublishRate {
		ends = append(ends, time.Duration(i+1)*period)
	}
	if o.Brokermark != nil {
		last := len(ends) - 1
		if end := time.Duration(o.Brokermark.Seconds * float64(time.Second)); end > time.Duration(last)*period {
			ends[last] = end
		}
	}
	return ends
}

func (p periods) length() time.Duration { return p[len(p)-1] }

// seconds is how long each of the first n periods was.
func (p periods) seconds(n int) []float64 {
	var seconds []float64
	var begin time.Duration
	for _, end := range p[:min(n, len(p))] {
		seconds = append(seconds, (end - begin).Seconds())
		begin = end
	}
	return seconds
}

// mean is that of values of the periods, each weighted by how long it was. It is 0 for an empty list: nothing was consumed.
func (p periods) mean(values []float64) float64 {
	seconds := p.seconds(len(values))
	if len(seconds) == 0 {
		return 0
	}
	return stat.Mean(values[:len(seconds)], seconds)
}

// failedSends is how many sends failed by the rates of the periods.
func (o OMB) failedSends() float64 {
	failed := 0.0
	for i, seconds := range o.periods().seconds(len(o.PublishErrorRate)) {
		failed += o.PublishErrorRate[i] * seconds
	}
	return failed
}
