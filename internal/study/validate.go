package study

import (
	"fmt"
	"maps"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// validator checks a completed spec for settings that are impossible with any broker.
type validator struct {
	*problems
	spec  *Spec
	given *draft
	// distrust reports that the document may come from elsewhere.
	distrust bool
}

// fail reports an error of the setting at path, with its position if it was written.
func (v *validator) fail(path, format string, args ...any) {
	at, ok := v.given.where(path)
	if !ok {
		at = place{file: v.given.file}
	}
	v.add(at, path, format, args...)
}

func (v *validator) validate() {
	v.broker()
	v.guarantee()
	v.topology()
	v.found()
	v.messages()
	v.headers()
	v.keys()
	v.times()
	v.inFlight()
	v.faults()
	v.pipeline()
	v.generator()
	switch s := v.spec; s.Measure {
	case MeasureRate:
		v.load()
	case MeasureCount:
		v.load()
		v.amount("count", s.Count.Messages, s.Count.Bytes)
	case MeasureBacklog:
		v.load()
		v.backlog()
	case MeasureSustainable:
		v.shape()
		v.sustainable()
	case MeasureCurve:
		v.shape()
		v.curve()
	case MeasureRead:
		v.read()
	}
}

// idle refuses settings that the measure doesn't use.
func (v *validator) idle(paths []string) {
	for _, p := range paths {
		said := "measure: " + v.spec.Measure
		if v.given.implied {
			said += " (which the other settings imply)"
		}
		hint := ""
		switch {
		case v.spec.Measure == MeasureSustainable && (p == "duration" || strings.HasPrefix(p, "warmup.")):
			hint = "; its trials have sustainable.trial, .confirm and .warmup"
		case v.spec.Measure == MeasureRate && p == "sustainable.latency":
			hint = fmt.Sprintf("; at a given rate objectives or --fail-if 'e2e_p99 > %s' bound it", v.spec.Sustainable.Latency)
		}
		v.fail(p, "not used by %s, only by %s%s", said, strings.Join(users(p), ", "), hint)
	}
}

// within checks that a whole number is at least low.
func (v *validator) within(path string, n, low int) bool {
	return v.between(path, n, low, int(mostOfSetting[path]))
}

// between checks a whole number.
func (v *validator) between(path string, n, low, high int) bool {
	if n >= low && n <= high {
		return true
	}
	v.fail(path, "%d is out of range; allowed: %d to %d", n, low, high)
	return false
}

// rate checks a number of messages per second.
func (v *validator) rate(path string, r float64) bool {
	if r >= minRate && r <= maxRate { // NaN fails too
		return true
	}
	v.fail(path, "%s is not a rate; allowed: above 0, up to %s messages per second", inWords(r), inWords(maxRate))
	return false
}

// silentRate is a rate that may be 0.
func (v *validator) silentRate(path string, r float64) bool { return r == 0 || v.rate(path, r) }

// Whether a range includes its lower bound; it always includes the upper one.
const (
	open   = false // it doesn't
	closed = true  // it does
)

// time checks a duration from 0, included if the range is closed, to maxDuration.
func (v *validator) time(path string, d Duration, closed bool) bool {
	if d > 0 && d <= maxDuration || closed && d == 0 {
		return true
	}
	v.fail(path, "%s is out of range; allowed: %s to %s", d, either(closed, "0", "above 0"), maxDuration)
	return false
}

// share checks a number from low, included if the range is closed.
func (v *validator) share(path string, f, low float64, closed bool) {
	high := mostOfSetting[path]
	if f > low && f <= high || closed && f == low {
		return
	}
	v.fail(path, "%s is out of range; allowed: %s%s to %s", inWords(f), either(closed, "", "above "), inWords(low), inWords(high))
}

// plainHost matches names and addresses of hosts; an empty one is this host.
var plainHost = regexp.MustCompile(`^([\pL\pN_:][\pL\pN._:%-]*)?$`)

func (v *validator) broker() {
	s := v.spec
	if g, ok := v.given.given[versionByBroker]; ok && s.Version == "" {
		of := g.value.(map[string]string)
		v.add(g.at, "version", "none for %s; given for %s", s.Broker, strings.Join(slices.Sorted(maps.Keys(of)), ", "))
	}
	if s.Broker == "" || s.Broker != strings.ToLower(s.Broker) {
		v.fail("broker", "%q is not a broker; names are lower case", s.Broker)
	}
	v.within("nodes", s.Nodes, 1)
	v.login()
	if !v.given.has("attach") {
		return
	}
	if len(s.Attach) == 0 {
		v.fail("attach", "no address; allowed: host:port of each node")
	}
	for _, a := range s.Attach {
		if host, _, found := strings.Cut(a, "@"); found && host != "" { // it may be a token, so the error doesn't repeat it
			v.fail("attach", "an address holds no user, password or token; %s", wayIn)
			continue
		}
		if a == "" || strings.ContainsAny(a, " \t,") || !strings.Contains(a, ":") {
			v.fail("attach", "%q is not an address; allowed: host:port", a)
			continue
		}
		if strings.Contains(a, "://") {
			v.fail("attach", "%q is a URL; allowed: host:port; tls and the broker's client settings say how it is spoken to", a)
			continue
		}
		host, port, _ := net.SplitHostPort(a)
		if !plainHost.MatchString(host) { // programs might take it for an option, or for a part of a URL
			v.fail("attach", "%q names no host; allowed: letters, digits and . _ - : %%, not - first", a)
			continue
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			v.fail("attach", "%q has no port from 1 to 65535; allowed: host:port, [address]:port for IPv6", a)
		}
	}
	for _, p := range []string{"nodes", "server", "faults", "brokerWarmup"} {
		if v.given.has(p) {
			v.fail(p, "can't be combined with attach: that broker was not started here")
		}
	}
	if s.Isolation == fresh {
		v.fail("isolation", "fresh can't be combined with attach: that broker was not started here; allowed: shared")
	}
}

func (v *validator) guarantee() {
	s := v.spec
	most := s.Nodes
	if len(s.Attach) > 0 || s.Nodes < 1 { // its nodes aren't known, or an error has reported that there are none
		most = maxNodes
	}
	if s.Replicas > most && s.Replicas <= maxNodes {
		v.fail("replicas", "%d replicas don't fit on %s; add nodes: %d", s.Replicas, plural(s.Nodes, "node"), s.Replicas)
	} else {
		v.between("replicas", s.Replicas, 1, most)
	}
	// Only the broker knows which words can be combined: an unsupported combination is a refused point, and no reason to refuse a
	// sweep over all of them.
	if s.Ordering == ordered && s.PartitionsPerTopic > 1 && s.KeyDistributor == noKey {
		v.fail("ordering", "ordered over %d partitions needs keys; allowed: partitionsPerTopic: 1, or a keyDistributor", s.PartitionsPerTopic)
	}
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func (v *validator) topology() {
	s := v.spec
	ok := v.within("topics", s.Topics, 1)
	v.within("partitionsPerTopic", s.PartitionsPerTopic, 1)
	if s.Measure != MeasureRead {
		ok = v.within("producersPerTopic", s.ProducersPerTopic, 1) && ok
	}
	ok = v.within("subscriptionsPerTopic", s.SubscriptionsPerTopic, 0) && ok
	ok = v.consumers() && ok
	if !ok {
		return
	}
	v.delay()
	v.warm()
	v.apart()
	v.limits()
	v.network()
	v.relays()
	v.placing()
	if v.given.has("connections") {
		v.between("connections", s.Connections, 0, s.Topics)
	}
	if n := int64(s.Topics) * int64(s.ProducersPerTopic); n > maxClients {
		v.fail("producersPerTopic", "%s of %s are %d; allowed: %d in all", plural(s.ProducersPerTopic, "producer"), plural(s.Topics, "topic"), n, maxClients)
	}
	if n := float64(s.Topics) * float64(s.ConsumersPerTopic()); n > maxClients {
		v.fail("consumerPerSubscription", "%s of %s of %s are %s; allowed: %d in all",
			s.ConsumerPerSubscription.text(), plural(s.SubscriptionsPerTopic, "subscription"), plural(s.Topics, "topic"), inWords(n), maxClients)
	}
}

// consumers checks the number of consumers of each subscription.
func (v *validator) consumers() bool {
	c := v.spec.ConsumerPerSubscription
	for _, n := range c {
		if !v.within("consumerPerSubscription", n, 1) {
			return false
		}
	}
	if len(c) > 1 && len(c) != v.spec.SubscriptionsPerTopic {
		v.fail("consumerPerSubscription", "%s are the consumers of %s; subscriptionsPerTopic is %d", c, plural(len(c), "subscription"), v.spec.SubscriptionsPerTopic)
		return false
	}
	return true
}

// warm checks the warm-up of a broker before its first measurement, which backlogs and faults rule out.
func (v *validator) warm() {
	s := v.spec
	v.time("brokerWarmup", s.BrokerWarmup, closed)
	switch {
	case s.BrokerWarmup == 0:
	case s.Measure == MeasureBacklog:
		v.fail("brokerWarmup", "can't be combined with measure: backlog, which has no consumers before its measurement")
	case len(s.Faults) > 0:
		v.fail("brokerWarmup", "can't be combined with faults; allowed: a longer warmup")
	}
}

func (v *validator) delay() {
	s := v.spec
	v.time("producerDelay", s.ProducerDelay, closed)
	v.time("consumerDelay", s.ConsumerDelay, closed)
	if s.ProducerDelay > 0 && s.Connections > 0 && s.Load.Shape == poisson {
		v.fail("producerDelay", "producers that share a connection take turns, which load.shape: poisson leaves to chance; allowed: connections: 0, or another shape")
	}
	switch {
	case v.given.has("consumerDelays") && s.ConsumerDelay == 0:
		v.fail("consumerDelays", "only used with consumerDelay")
	case s.ConsumerDelay > 0 && s.SubscriptionsPerTopic == 0:
		v.fail("consumerDelay", "there are no consumers: subscriptionsPerTopic is 0")
	}
}

// minTimed is the smallest payload that can carry its times.
const minTimed = 32

func (v *validator) apart() {
	s := v.spec
	switch {
	case !s.ConsumersApart:
	case s.SubscriptionsPerTopic == 0:
		v.fail("consumersApart", "there are no consumers: subscriptionsPerTopic is 0")
	case s.PayloadFile == "" && len(s.MessageSize) > 0 && s.MessageSize[0].Size < minTimed:
		v.fail("consumersApart", "a message of %s can't carry its times to another process; allowed: messageSize of %d and more", bytesText(s.MessageSize[0].Size), minTimed)
	}
}

func (v *validator) relays() {
	s := v.spec
	if !v.within("relays", s.Relays, 0) || s.Relays == 0 {
		return
	}
	if s.SubscriptionsPerTopic == 0 {
		v.fail("relays", "nothing consumes what they produce: subscriptionsPerTopic is 0")
	}
	if s.Measure == MeasureBacklog {
		v.fail("relays", "can't be combined with measure: backlog: they would empty what is to be filled")
	}
	for _, f := range s.Faults {
		if f.Do == "kill" && f.For == 0 && s.Relays == 1 && slices.Contains(s.Parts(), f.Node) {
			v.fail("faults", "kill at %s: %s would not come back, and there is no other relay; add for", f.At, f.Node)
		}
	}
}

func (v *validator) messages() {
	s := v.spec
	if len(s.MessageSize) == 0 && s.Measure != MeasureRead {
		v.fail("messageSize", "no size; allowed: a size, or a list of {size, weight}")
	}
	for i, w := range s.MessageSize {
		switch {
		case w.Size < minMessage:
			v.fail("messageSize", "%s is too small; allowed: 8 (a message's identity) to %s", bytesText(w.Size), Size(maxMessage))
		case w.Size > maxMessage:
			v.fail("messageSize", "%s is too large; allowed: 8 to %s", bytesText(w.Size), Size(maxMessage))
		case !(w.Weight > 0) || math.IsInf(w.Weight, 0):
			v.fail("messageSize", "weight %s of size %s; allowed: above 0", inWords(w.Weight), w.Size)
		case i > 0 && s.MessageSize[i-1].Size == w.Size:
			v.fail("messageSize", "size %s is there twice", w.Size)
		}
	}
	v.share("randomBytesRatio", s.RandomBytesRatio, 0, closed)
	for _, p := range madeUp {
		if g, ok := v.given.given[p]; ok && !s.UseRandomizedPayloads && g.value != 0.0 && g.value != 0 {
			v.fail(p, "not used: payloads are %s; allowed with useRandomizedPayloads: true", either(s.PayloadFile != "", "read from payloadFile", "all zero bytes"))
		}
	}
	if s.PayloadFile == "" {
		v.within("randomizedPayloadPoolSize", s.RandomizedPayloadPoolSize, 1)
	}
}

// bytesText adds the unit if the number alone isn't clear.
func bytesText(s Size) string {
	if text := s.String(); strings.HasSuffix(text, "B") {
		return text
	}
	return plural(int(s), "byte")
}

func (v *validator) keys() {
	s := v.spec
	v.within("keys", s.Keys, 1)
	if v.given.has("keys") && s.KeyDistributor == noKey {
		v.fail("keys", "not used by keyDistributor: NO_KEY; allowed with KEY_ROUND_ROBIN, RANDOM_NANO, RANDOM, ZIPF")
	}
	v.share("zipfExponent", s.ZipfExponent, 1, open)
	if v.given.has("zipfExponent") && s.KeyDistributor != keyZipf {
		v.fail("zipfExponent", "not used by keyDistributor: %s; allowed with ZIPF", s.KeyDistributor)
	}
}

func (v *validator) inFlight() {
	s := v.spec
	v.within("inFlight.messages", s.InFlight.Messages, 1)
	if s.InFlight.Bytes < s.MessageSize.Largest() || s.InFlight.Bytes < 1 {
		v.fail("inFlight.bytes", "%s holds no message of %s", bytesText(s.InFlight.Bytes), bytesText(s.MessageSize.Largest()))
	}
}
