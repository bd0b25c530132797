package study

import (
	"regexp"
	"strings"
	"unicode"
)

const mostOfName = 200 // bytes of a topic's name, or of a prefix of names

// prefixes matches allowed prefixes of topic names: words with one mark between them, and perhaps one at the end. Brokers allow
// different marks.
var prefixes = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*([.:/][A-Za-z0-9_-]+)*[.:/]?$`)

// forSending are settings that have no effect without sending, or that need known messages.
var forSending = []string{
	"messageSize", "payloadFile", "payloadColumn", "useRandomizedPayloads", "randomBytesRatio", "randomizedPayloadPoolSize", "keyDistributor", "keys",
	"zipfExponent", "producerDelay", "consumerDelay", "connections", "consumersApart", "place", "drain", "inFlight", "faults",
}

// completeRead leaves out the settings of sending.
func completeRead(s *Spec, d *draft) {
	if s.Measure != MeasureRead {
		return
	}
	fill(d, "read.from", &s.Read.From, ReadNow)
	fill(d, "producersPerTopic", &s.ProducersPerTopic, 0)
	if !d.has("messageSize") {
		s.MessageSize, s.UseRandomizedPayloads = nil, false
	}
	if s.Read.From == ReadStart {
		fill(d, "warmup.for", &s.Warmup.For, 0)
	}
}

// read checks a measurement that sends nothing.
func (v *validator) read() {
	s := v.spec
	for _, path := range forSending {
		for _, given := range v.given.under(path) {
			v.fail(given, "not used by measure: read, which sends nothing")
		}
	}
	switch {
	case s.TopicName == "" && len(s.Attach) == 0:
		v.fail("topicName", "missing; measure: read reads a topic of an attached broker to which others publish (--attach, --topic)")
	case s.TopicName == "":
		v.fail("topicName", "missing; measure: read reads one to which others publish")
	case s.ProducersPerTopic > 0:
		v.fail("producersPerTopic", "%d with measure: read, which sends nothing; allowed: 0", s.ProducersPerTopic)
	case s.SubscriptionsPerTopic == 0:
		v.fail("subscriptionsPerTopic", "0 with measure: read: there would be no reader")
	case s.Ordering == ordered:
		v.fail("ordering", "with measure: read nothing looks at the order; allowed: unordered")
	case s.Warmup.Auto:
		v.fail("warmup.auto", "not used by measure: read, whose rate is others'; allowed: warmup with a time")
	case s.Read.From == ReadStart && s.Warmup.For > 0:
		v.fail("warmup.for", "not used by read.from: start, which reads everything at once; allowed with read.from: now")
	}
}

// found checks the existing topic on an attached broker, and the prefix of names.
func (v *validator) found() {
	s := v.spec
	if p := s.TopicPrefix; p != "" && (!prefixes.MatchString(p) || len(p) > mostOfName) {
		v.fail("topicPrefix", "%q begins no name of a topic; allowed: letters and digits first, then also _ and -, and single . : / between words, up to %d bytes", p, mostOfName)
	}
	if s.TopicName == "" {
		return
	}
	if len(s.TopicName) > mostOfName || strings.ContainsFunc(s.TopicName, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		v.fail("topicName", "%q is not the name of a topic; allowed: up to %d bytes without white space", s.TopicName, mostOfName)
	}
	if len(s.Attach) == 0 {
		v.fail("topicName", "only with attach; a broker that is started here has no topic yet")
	}
	for _, path := range v.given.under("topicConfig") {
		v.fail(path, "can't be combined with topicName: %s, whose settings are its owner's", s.TopicName)
	}
	const made = "can't be combined with topicName: %s: it uses a topic that is made for it"
	switch {
	case s.Topics > 1:
		v.fail("topics", "%d; topicName: %s is 1", s.Topics, s.TopicName)
	case s.Relays > 0:
		v.fail("relays", made, s.TopicName)
	case s.Pipeline != nil:
		v.fail("pipeline", made, s.TopicName)
	case s.PayloadFile == "" && s.MessageSize.Smallest() < minTimed && len(s.MessageSize) > 0:
		v.fail("messageSize", "a message of %s has no room to say that it is none of others in topicName: %s; allowed: %d and more", bytesText(s.MessageSize.Smallest()), s.TopicName, minTimed)
	}
}
