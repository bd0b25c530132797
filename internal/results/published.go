package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
)

// Published tells that the point holds the figures of a publication. Nothing is ranked, tested or concluded by them: they
// stand beside measured figures.
func (p Point) Published() bool { return p.Records[0].Kind == store.KindPublished }

// PublishedNote explains published figures, once in a document.
const PublishedNote = "Published figures are those of a paper, on its machines and versions: they stand beside the measured ones, and nothing is " +
	"ranked, tested or judged by them."

// AsRecorded is m with the latency of closed loops as well, for comparisons with publications that print it.
func (m Metric) AsRecorded() Metric {
	if m.raw != nil {
		m.Of = m.raw
	}
	return m
}

// publishedToo has metrics answer for published records from the published figures, and only from those.
func publishedToo(metrics []Metric) []Metric {
	for i := range metrics {
		m := &metrics[i]
		m.Of = orPublished(m.Key, m.Of)
		if m.raw != nil {
			m.raw = orPublished(m.Key, m.raw)
		}
	}
	return metrics
}

// orPublished reads a metric by its key from what was published, and from measured records by of.
func orPublished(key string, of func(store.Record) float64) func(store.Record) float64 {
	return func(r store.Record) float64 {
		if r.Kind != store.KindPublished {
			return of(r)
		}
		if r.Result != nil {
			if v, ok := r.Result.Given[key]; ok {
				return v
			}
		}
		return math.NaN()
	}
}
