package store

import "github.com/brokermark/brokermark/internal/hist"

// Pipeline holds the figures of an application around the broker. The books of its measurement count requests (sent), those
// answered with 201 (acked), rides in the consumer's state (received), and rides counted twice there (duplicated).
type Pipeline struct {
	WallSeconds float64       `json:"wall_seconds"`       // from the first request to the last answer
	Response    hist.Snapshot `json:"response"`           // from a request's sending to its answer, ns
	Retries     int64         `json:"retries"`            // requests that were posted again
	Redelivered int64         `json:"redelivered"`        // deliveries of rides that were counted already; those to a killed consumer are not known
	Balancer    string        `json:"balancer,omitempty"` // its name and version
	// QueueMax is the largest number of messages that the broker reported to hold for the consumer; nil: it wasn't asked.
	QueueMax *int64         `json:"queue_max,omitempty"`
	Parts    []PipelinePart `json:"parts"`
	Series   []PipelineTick `json:"series,omitempty"`
}

// PipelinePart is what all processes of one part used.
type PipelinePart struct {
	Name          string  `json:"name"` // client | balancer | server | broker | consumer | state (the consumer's database)
	UserSeconds   float64 `json:"user_seconds"`
	SystemSeconds float64 `json:"system_seconds"`
	PeakCPU       float64 `json:"peak_cpu"`  // cores, mean of half a second
	RSSBytes      int64   `json:"rss_bytes"` // largest seen
}

// PipelineTick is one sample of the parts over time. Figures that the broker didn't report are nil.
type PipelineTick struct {
	OffsetNs      int64     `json:"offset_ns"`                // from the first request
	Queue         *int64    `json:"queue,omitempty"`          // messages not yet delivered or, if the broker can't tell, not yet acknowledged
	Unacked       *int64    `json:"unacked,omitempty"`        // delivered to the consumer and not acknowledged
	PublishedRate *float64  `json:"published_rate,omitempty"` // messages per second over about the last second, by the broker's count
	DeliveredRate *float64  `json:"delivered_rate,omitempty"` // to the consumer, likewise
	CPU           []float64 `json:"cpu"`                      // mean cores since the tick before, in the order of Parts
	RSSBytes      []int64   `json:"rss_bytes"`                // in the order of Parts
}

// Part finds a part by name.
func (p *Pipeline) Part(name string) (PipelinePart, bool) {
	for _, one := range p.Parts {
		if one.Name == name {
			return one, true
		}
	}
	return PipelinePart{}, false
}
