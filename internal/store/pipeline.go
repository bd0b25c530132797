package store

import "github.com/brokermark/brokermark/internal/hist"

// Pipeline is what only an application around the broker has. Its books are those of the measurement: sent are requests,
// acked those answered with 201, received the rides that are in the consumer's state, duplicated those counted twice there.
type Pipeline struct {
	WallSeconds float64       `json:"wall_seconds"`       // from the first request to the last answer
	Response    hist.Snapshot `json:"response"`           // from a request's sending to its answer, ns
	Retries     int64         `json:"retries"`            // requests that were posted again
	Redelivered int64         `json:"redelivered"`        // deliveries of a ride that was counted already; what a killed consumer saw is not in it
	Balancer    string        `json:"balancer,omitempty"` // its name and version
	// QueueMax is the most that the broker said to hold for the consumer; nil: it wasn't asked.
	QueueMax *int64         `json:"queue_max,omitempty"`
	Parts    []PipelinePart `json:"parts"`
	Series   []PipelineTick `json:"series,omitempty"`
}

// PipelinePart is what one part used, all its processes together.
type PipelinePart struct {
	Name          string  `json:"name"` // client | balancer | server | broker | consumer | state, its database
	UserSeconds   float64 `json:"user_seconds"`
	SystemSeconds float64 `json:"system_seconds"`
	PeakCPU       float64 `json:"peak_cpu"`  // cores, of half a second
	RSSBytes      int64   `json:"rss_bytes"` // largest seen
}

// PipelineTick is a look at the parts; offsets are from the first request. What the broker didn't tell is nil.
type PipelineTick struct {
	OffsetNs      int64     `json:"offset_ns"`
	Queue         *int64    `json:"queue,omitempty"`          // messages that no consumer was given, or that none has acknowledged
	Unacked       *int64    `json:"unacked,omitempty"`        // given to the consumer and not acknowledged
	PublishedRate *float64  `json:"published_rate,omitempty"` // that came in, per second over about the last second, as the broker counts
	DeliveredRate *float64  `json:"delivered_rate,omitempty"` // that it gave to the consumer
	CPU           []float64 `json:"cpu"`                      // cores since the tick before, by part
	RSSBytes      []int64   `json:"rss_bytes"`                // by part
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
