package study

// OwnGenerator is the generator of specs that don't name a tool of the broker's maker.
const OwnGenerator = "brokermark"

// decidedByTool are settings that no maker's tool supports: it sends payloads of its own without keys, at once and at an even rate.
var decidedByTool = []string{
	"topicName", "payloadFile", "payloadColumn", "headers", "useRandomizedPayloads", "randomBytesRatio", "randomizedPayloadPoolSize", "keyDistributor",
	"producerDelay", "consumerDelay", "connections", "relays", "consumersApart", "place", "pipeline", "faults", "brokerWarmup",
	"warmup.for", "warmup.auto", "load.to", "load.steps", "load.burst", "inFlight.bytes", "login", "user", "seed",
}

// completeGenerator leaves out settings that a maker's tool doesn't have.
func completeGenerator(s *Spec, d *draft) {
	if s.Generator == OwnGenerator {
		s.Generator = ""
	}
	if s.Generator != "" {
		fill(d, "warmup.for", &s.Warmup.For, 0)
	}
}

// generator refuses settings that no maker's tool supports; limits of a particular tool are checked when that is known.
func (v *validator) generator() {
	s := v.spec
	if s.Generator == "" {
		return
	}
	for _, path := range decidedByTool {
		for _, given := range v.given.under(path) {
			v.fail(given, "not used with generator: %s, which decides this itself or can't do it; allowed: generator: %s", s.Generator, OwnGenerator)
		}
	}
	switch {
	case s.Measure != MeasureRate && s.Measure != MeasurePeak && s.Measure != MeasureCount:
		v.fail("measure", "%s can't be combined with generator: %s; allowed: rate, peak, count", s.Measure, s.Generator)
	case s.Load.Shape != constant:
		v.fail("load.shape", "%s can't be combined with generator: %s; allowed: constant", s.Load.Shape, s.Generator)
	case s.Topics > 1:
		v.fail("topics", "%d; generator: %s has 1", s.Topics, s.Generator)
	case len(s.MessageSize) > 1:
		v.fail("messageSize", "several sizes can't be combined with generator: %s; allowed: one", s.Generator)
	case len(s.ConsumerPerSubscription) > 1:
		v.fail("consumerPerSubscription", "%s can't be combined with generator: %s; allowed: one number", s.ConsumerPerSubscription, s.Generator)
	case s.TLS != TLSOff:
		v.fail("tls", "%s can't be combined with generator: %s; allowed: off", s.TLS, s.Generator)
	case s.Ordering == ordered:
		v.fail("ordering", "with generator: %s nothing looks at the order; allowed: unordered", s.Generator)
	}
}
