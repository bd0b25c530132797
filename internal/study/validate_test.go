package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImpossibleCombinationsAreRefusedInASentence(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "small", "1234567")
	write(t, dir, "ten", "1234567890")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ doc, want string }{
		"no identity":          {"messageSize: 7", `f.yaml:1: messageSize: 7 bytes is too small; allowed: 8 (a message's identity) to 256MiB`},
		"one byte":             {"messageSize: 1", `f.yaml:1: messageSize: 1 byte is too small; allowed: 8 (a message's identity) to 256MiB`},
		"negative size":        {"messageSize: -1KiB", `f.yaml:1: messageSize: -1KiB is too small; allowed: 8 (a message's identity) to 256MiB`},
		"absurd size":          {"messageSize: 1GiB", `f.yaml:1: messageSize: 1GiB is too large; allowed: 8 to 256MiB`},
		"no weight":            {"messageSize: [{size: 10, weight: 1}, {size: 20}]", `f.yaml:1: messageSize: weight 0 of size 20; allowed: above 0`},
		"size twice":           {"messageSize: [{size: 1KiB, weight: 1}, {size: 1024, weight: 2}]", `f.yaml:1: messageSize: size 1KiB is there twice`},
		"no size":              {"messageSize: []", `f.yaml:1: messageSize: no size; allowed: a size, or a list of {size, weight}`},
		"3 replicas on 1 node": {"replicas: 3", `f.yaml:1: replicas: 3 replicas don't fit on 1 node; add nodes: 3`},
		"no replica":           {"replicas: 0", `f.yaml:1: replicas: 0 is out of range; allowed: 1 to 1`},
		"rate of 301 digits":   {"rate: 1e300", `f.yaml:1: load.rate: 1e+300 is not a rate; allowed: above 0, up to 100000000 messages per second`},
		"no node":              {"nodes: 0", `f.yaml:1: nodes: 0 is out of range; allowed: 1 to 99`},
		"upper case":           {"broker: Kafka", `f.yaml:1: broker: "Kafka" is not a broker; names are lower case`},
		"ordered without keys": {"ordering: ordered\npartitions: 8", `f.yaml:1: ordering: ordered over 8 partitions needs keys; allowed: partitionsPerTopic: 1, or a keyDistributor`},
		"no topic":             {"topics: 0", `f.yaml:1: topics: 0 is out of range; allowed: 1 to 4194304`},
		"too many producers":   {"topics: 1000\nproducers: 5000", `f.yaml:2: producersPerTopic: 5000 producers of 1000 topics are 5000000; allowed: 4194304 in all`},
		"too many consumers":   {"topics: 1000\nconsumers: 5000", `f.yaml:2: consumerPerSubscription: 5000 consumers of 1 subscription of 1000 topics are 5000000; allowed: 4194304 in all`},
		"ratio":                {"randomBytesRatio: 1.5", `f.yaml:1: randomBytesRatio: 1.5 is out of range; allowed: 0 to 1`},
		"groups and a number":  {"subscriptions: 3\nconsumers: 3+2", `f.yaml:2: consumerPerSubscription: 3+2 are the consumers of 2 subscriptions; subscriptionsPerTopic is 3`},
		"a group of nobody":    {"subscriptions:\n- consumers: 3\n- consumers: 0", `f.yaml:2: consumerPerSubscription: 0 is out of range; allowed: 1 to 4194304`},
		"too many in groups":   {"topics: 1000\nconsumers: 4000+1000", `f.yaml:2: consumerPerSubscription: 4000+1000 consumers of 2 subscriptions of 1000 topics are 5000000; allowed: 4194304 in all`},
		"groups of a pipeline": {"rate: 5\npipeline: {servers: 1}\nconsumers: 3+2", `f.yaml: subscriptionsPerTopic: 2; a pipeline has 1`},
		"relays for nobody":    {"relays: 1\nsubscriptions: 0", `f.yaml:1: relays: nothing consumes what they produce: subscriptionsPerTopic is 0`},
		"too many relays":      {"relays: 65", `f.yaml:1: relays: 65 is out of range; allowed: 0 to 64`},
		"relays of a backlog":  {"measure: backlog\nrelays: 1", `f.yaml:2: relays: can't be combined with measure: backlog: they would empty what is to be filled`},
		"relays of a pipeline": {"rate: 5\npipeline: {servers: 1}\nrelays: 1", `f.yaml:3: relays: not used with pipeline, whose consumer keeps what it reads`},
		"the last relay":       {"rate: 5\nrelays: 1\nfaults: [{at: 1s, do: kill, node: relay-1}]", `f.yaml:3: faults: kill at 1s: relay-1 would not come back, and there is no other relay; add for`},
		"no such relay":        {"rate: 5\nrelays: 2\nfaults: [{at: 1s, do: kill, node: relay-3, for: 1s}]", `f.yaml:3: faults: kill at 1s: node "relay-3" is not there; allowed: 1 to 1, all, leader, relay-1, relay-2`},
		"spread backlog":       {"measure: backlog\nplace: spread", `f.yaml:2: place: can't be combined with measure: backlog, which is filled and drained by one agent; allowed: topic`},
		"spread, small":        {"place: spread\nsize: 31", `f.yaml:1: place: a message of 31 bytes can't carry its times to another agent; allowed: messageSize of 32 and more`},
		"spread pipeline":      {"rate: 5\npipeline: {servers: 1}\nplace: spread", `f.yaml:3: place: not used with pipeline, whose parts run on this machine`},
		"no place to consume":  {"place: {producers: [a]}", `f.yaml: place.consumers: no agent has the consumers; allowed: names of agents`},
		"no place to produce":  {"place: {consumers: [a]}", `f.yaml: place.producers: no agent has the producers; allowed: names of agents`},
		"a place for nobody":   {"subscriptions: 0\nplace: {producers: [a], consumers: [b]}", `f.yaml:2: place.consumers: there are no consumers: subscriptionsPerTopic is 0`},
		"two deals":            {"place: {deal: topic, producers: [a], consumers: [b]}", `f.yaml:1: place.deal: topic is for all agents, and place.producers and place.consumers name some; allowed: one of the two`},
		"a place of no name":   {"place: {producers: [''], consumers: [b]}", `f.yaml:1: place.producers: a name is empty; allowed: names of agents, as brokermark agent list shows them`},
		"column of no file":    {"payloadColumn: body", `f.yaml:1: payloadColumn: only used with payloadFile`},
		"keys without keys":    {"keys: 10", `f.yaml:1: keys: not used by keyDistributor: NO_KEY; allowed with KEY_ROUND_ROBIN, RANDOM_NANO, RANDOM, ZIPF`},
		"no keys":              {"keys: 0\nkeyDistributor: RANDOM", `f.yaml:1: keys: 0 is out of range; allowed: 1 to 100000000`},
		"flat Zipf":            {"keyDistributor: ZIPF\nzipfExponent: 1", `f.yaml:2: zipfExponent: 1 is out of range; allowed: above 1 to 10`},
		"Zipf elsewhere":       {"keyDistributor: RANDOM\nzipfExponent: 2", `f.yaml:2: zipfExponent: not used by keyDistributor: RANDOM; allowed with ZIPF`},
		"nothing in flight":    {"inFlight: {messages: 0}", `f.yaml:1: inFlight.messages: 0 is out of range; allowed: 1 to 10000000`},
		"window too small":     {"messageSize: 1KiB\ninFlight: {bytes: 100}", `f.yaml:2: inFlight.bytes: 100 bytes holds no message of 1KiB`},
		"no such payload":      {"payloadFile: nowhere.data", `f.yaml:1: payloadFile: no file or directory "nowhere.data" here, beside the study or one folder above it; without it (payloadFile: "") payloads are made up`},
		"small payload":        {"payloadFile: DIR/small", `f.yaml:1: payloadFile: payloads can't be read: DIR/small has 7 bytes; a message needs at least 8`},
		"login of our own":     {"user: eve\npasswordEnv: PW", "f.yaml:1: user: only with attach; a broker that is started here needs none\nf.yaml:2: passwordEnv: only with attach; a broker that is started here needs none"},
		"no password":          {"attach: [a:1]\nuser: eve", `f.yaml:2: user: no password; passwordEnv names an environment variable that holds it, passwordFile a file`},
		"two passwords":        {"attach: [a:1]\nuser: eve\npasswordEnv: PW\npasswordFile: pw", `f.yaml:4: passwordFile: passwordEnv is given, too; allowed: one of them`},
		"no token":             {"attach: [a:1]\nlogin: token", `f.yaml:2: login: no token; passwordEnv names an environment variable that holds it, passwordFile a file`},
		"a token's user":       {"attach: [a:1]\nlogin: token\nuser: eve\npasswordEnv: PW", `f.yaml:3: user: login: token has no user`},
		"a certificate's word": {"attach: [a:1]\nlogin: certificate\npasswordEnv: PW\ntls: mutual\ncertFile: c\nkeyFile: k", `f.yaml:3: passwordEnv: login: certificate has no password`},
		"no certificate":       {"attach: [a:1]\nlogin: certificate", `f.yaml:2: login: certificate shows the client certificate of TLS, and tls is off; allowed with tls: mutual`},
		"no client id":         {"attach: [a:1]\nlogin: oauth\npasswordEnv: PW\noauth: {url: 'https://i/t'}", `f.yaml:2: login: no client id; user says it`},
		"no access key":        {"attach: [a:1]\nlogin: aws\npasswordEnv: PW", `f.yaml:2: login: no access key id; user says it`},
		"no endpoint":          {"attach: [a:1]\nlogin: oauth\nuser: c\npasswordEnv: PW", `f.yaml:2: login: no endpoint that gives tokens; oauth.url says it`},
		"no URL":               {"attach: [a:1]\nlogin: oauth\nuser: c\npasswordEnv: PW\noauth.url: idp:80/t", `f.yaml:5: oauth.url: "idp:80/t" is not the URL of an endpoint; allowed: https://host/path`},
		"a password in a URL":  {"attach: [a:1]\nlogin: oauth\nuser: c\npasswordEnv: PW\noauth.url: https://c:sesame@idp/t", `f.yaml:5: oauth.url: a URL holds no user, password or token; user names the user of an attached broker, and passwordEnv or passwordFile say where the password is`},
		"a scope of nothing":   {"attach: [a:1]\nuser: c\npasswordEnv: PW\noauth.scope: all", `f.yaml:4: oauth.scope: not used by user and password; allowed with login: oauth`},
		"a login here":         {"login: token\npasswordEnv: PW", "f.yaml:1: login: only with attach; a broker that is started here needs none\nf.yaml:2: passwordEnv: only with attach; a broker that is started here needs none"},
		"password of nobody":   {"attach: [a:1]\npasswordFile: pw", `f.yaml:2: passwordFile: no user; name one with user`},
		"password itself":      {"attach: [a:1]\nuser: eve\npasswordEnv: PW=secret", `f.yaml:3: passwordEnv: "PW=secret" is not the name of an environment variable`},
		"CA without TLS":       {"attach: [a:1]\ncaFile: ca.pem", `f.yaml:2: caFile: tls is off; allowed with tls: on or mutual`},
		"certificate, not mutual": {
			"attach: [a:1]\ntls: on\ncertFile: c.pem\nkeyFile: k.pem", `f.yaml:3: certFile: tls is on; allowed with tls: mutual`,
		},
		"mutual without key":  {"attach: [a:1]\ntls: mutual\ncertFile: c.pem", `f.yaml: keyFile: missing; an attached broker with tls: mutual needs certFile and keyFile`},
		"no payload in there": {"payloadFile: DIR/empty", `f.yaml:1: payloadFile: payloads can't be read: no payload in DIR/empty`},
		"payload of other size": {
			"payloadFile: DIR/ten\nmessageSize: 1KiB", `f.yaml:2: messageSize: 1KiB, but the payloads in DIR/ten have 10; leave messageSize out to use their own`,
		},

		"rate without rate":    {"measure: rate", `f.yaml: load.rate: missing; measure: rate needs messages per second (measure: peak goes as fast as it can)`},
		"no rate":              {"load: {rate: 0}", `f.yaml:1: load.rate: 0 is not a rate; allowed: above 0, up to 100000000 messages per second`},
		"negative rate":        {"rate: -5", `f.yaml:1: load.rate: -5 is not a rate; allowed: above 0, up to 100000000 messages per second`},
		"not a rate":           {"rate: .nan", `f.yaml:1: load.rate: NaN is not a rate; allowed: above 0, up to 100000000 messages per second`},
		"endless rate":         {"rate: .inf", `f.yaml:1: load.rate: +Inf is not a rate; allowed: above 0, up to 100000000 messages per second`},
		"absurd rate":          {"rate: 1e12", `f.yaml:1: load.rate: 1000000000000 is not a rate; allowed: above 0, up to 100000000 messages per second`},
		"no time":              {"rate: 1\nduration: 0s", `f.yaml:2: duration: 0s is out of range; allowed: above 0 to 168h`},
		"a month":              {"rate: 1\nduration: 720h", `f.yaml:2: duration: 720h is out of range; allowed: above 0 to 168h`},
		"negative warm-up":     {"rate: 1\nwarmup: -1s", `f.yaml:2: warmup.for: -1s is out of range; allowed: 0 to 168h`},
		"warm-up too short":    {"rate: 1\nwarmup: {auto: true, for: 9s, max: 8s}", `f.yaml:2: warmup.max: 8s is shorter than warmup.for: 9s`},
		"limit of nothing":     {"rate: 1\nwarmup: {for: 9s, max: 10s}", `f.yaml:2: warmup.max: only used with auto: true`},
		"ramp to nowhere":      {"load: {shape: ramp, rate: 5}", `f.yaml: load.to: missing; load.shape: ramp needs it`},
		"constant with to":     {"load: {rate: 5, to: 6}", `f.yaml:1: load.to: not used by load.shape: constant, only by ramp`},
		"constant with steps":  {"load: {rate: 5, steps: [{rate: 1, for: 1s}]}", `f.yaml:1: load.steps: not used by load.shape: constant, only by steps`},
		"poisson with burst":   {"load: {shape: poisson, rate: 5, burst: {rate: 1, every: 2s, for: 1s}}", `f.yaml:1: load.burst: not used by load.shape: poisson, only by bursts`},
		"steps without steps":  {"load: {shape: steps}", `f.yaml: load.steps: missing; load.shape: steps needs it`},
		"no step":              {"load: {shape: steps, steps: []}", `f.yaml:1: load.steps: no step; allowed: a list of {rate, to, for}`},
		"steps with a rate":    {"load: {shape: steps, rate: 5, steps: [{rate: 1, for: 1s}]}", `f.yaml:1: load.rate: not used by load.shape: steps; each step has its rate`},
		"steps of silence":     {"load: {shape: steps, steps: [{rate: 0, for: 1s}]}", `f.yaml:1: load.steps: every rate is 0; allowed: at least one above 0`},
		"step without time":    {"load: {shape: steps, steps: [{rate: 1}, {rate: 2}]}", `f.yaml:1: load.steps: 0s is out of range; allowed: above 0 to 168h`},
		"burst without end":    {"load: {shape: bursts, rate: 5, burst: {rate: 9, every: 1s, for: 1s}}", `f.yaml:1: load.burst.for: 1s is not shorter than load.burst.every: 1s`},
		"ramp of a count":      {"count: {messages: 5}\nload: {shape: ramp, rate: 1, to: 2}", `f.yaml:2: load.shape: ramp needs measure: rate; measure: count allows constant, poisson`},
		"rate when searching":  {"measure: sustainable\nrate: 5", `f.yaml:2: load.rate: not used by measure: sustainable, only by rate, count, backlog`},
		"time when searching":  {"measure: sustainable\nduration: 5s", `f.yaml:2: duration: not used by measure: sustainable, only by rate, peak, curve, backlog, read; its trials have sustainable.trial, .confirm and .warmup`},
		"count for a rate":     {"measure: rate\nrate: 5\ncount: {messages: 5}", `f.yaml:3: count.messages: not used by measure: rate, only by count`},
		"implied measure":      {"rate: 5\nsustainable: {trial: 1s}", `f.yaml:2: sustainable.trial: not used by measure: rate (which the other settings imply), only by sustainable, curve`},
		"two measures":         {"count: {messages: 5}\nbacklog: {messages: 5}", `f.yaml: measure: missing: the settings of several measures are given; allowed: rate, peak, sustainable, curve, count, backlog, read`},
		"width":                {"sustainable: {width: 0}", `f.yaml:1: sustainable.width: 0 is out of range; allowed: above 0 to 0.5`},
		"too few trials":       {"sustainable: {maxTrials: 2}", `f.yaml:1: sustainable.maxTrials: 2 is out of range; allowed: 3 to 10000`},
		"quantile":             {"sustainable: {quantile: 99, latency: 1s}", `f.yaml:1: sustainable.quantile: 99 is not a quantile; allowed: above 0 to 1, such as 0.99; 1 bounds the maximum`},
		"quantile of nothing":  {"sustainable: {quantile: 0.9}", `f.yaml:1: sustainable.quantile: only used with sustainable.latency`},
		"no goal":              {"sustainable: {goals: []}", `f.yaml:1: sustainable.goals: no goal; allowed: a list of {latency, quantile}, {} for one without a bound`},
		"a goal twice":         {"sustainable: {goals: [{}, {}]}", `f.yaml:1: sustainable.goals: one goal is given twice`},
		"quantile of no goal":  {"sustainable: {goals: [{quantile: 0.9}]}", `f.yaml:1: sustainable.goals: a quantile (0.9) without a latency`},
		"quantile of a goal":   {"sustainable: {goals: [{latency: 1s, quantile: 99}]}", `f.yaml:1: sustainable.goals: 99 is not a quantile; allowed: above 0 to 1, such as 0.99; 1 bounds the maximum`},
		"goals and a latency":  {"sustainable: {goals: [{}], latency: 1s}", `f.yaml:1: sustainable.goals: given beside sustainable.latency; allowed: one of them`},
		"exceed":               {"sustainable: {exceed: 0.6}", `f.yaml:1: sustainable.exceed: 0.6 is out of range; allowed: 0 to 0.5`},
		"a repeated ramp":      {"load: {shape: ramp, rate: 1, to: 5, repeat: true}", `f.yaml:1: load.repeat: not used by load.shape: ramp, only by steps`},
		"search with steps":    {"measure: sustainable\nload.shape: steps", `f.yaml:2: load.shape: steps needs measure: rate; measure: sustainable allows constant, poisson`},
		"no latency":           {"sustainable: {latency: 0s}", `f.yaml:1: sustainable.latency: 0s is out of range; allowed: above 0 to 168h`},
		"fractions and rates":  {"curve: {fractions: [0.5], rates: [5]}", `f.yaml:1: curve.fractions: given beside curve.rates; allowed: one of them`},
		"far beyond":           {"curve: {fractions: [0.5, 11]}", `f.yaml:1: curve.fractions: 11 is out of range; allowed: above 0 to 10`},
		"no fraction":          {"curve: {fractions: []}", `f.yaml:1: curve.fractions: no fraction; allowed: a list of shares of the sustainable rate, above 0 to 10`},
		"search for nothing":   {"curve: {rates: [5]}\nsustainable: {trial: 1s}", `f.yaml:2: sustainable: not used with curve.rates: nothing is searched`},
		"messages and bytes":   {"count: {messages: 5, bytes: 1MB}", `f.yaml:1: count.bytes: given beside count.messages; allowed: one of them`},
		"less than a message":  {"count: {bytes: 99}", `f.yaml:1: count.bytes: 99 bytes is out of range; allowed: one message (100 bytes) to 1PiB`},
		"no messages":          {"count: {messages: 0}", `f.yaml:1: count.messages: 0 is out of range; allowed: 1 to 1000000000000`},
		"backlog of both":      {"backlog: {messages: 5, bytes: 1MB}", `f.yaml:1: backlog.bytes: given beside backlog.messages; allowed: one of them`},
		"drain ratio":          {"backlog: {drainRatio: 1.5}", `f.yaml:1: backlog.drainRatio: 1.5 is out of range; allowed: 0 to 1`},
		"nobody drains":        {"backlog: {messages: 5}\nsubscriptions: 0", `f.yaml:2: subscriptionsPerTopic: 0 with measure: backlog: there would be no consumer to drain it`},
		"a rate to go on at":   {"backlog: {messages: 5, keepSending: true}", `f.yaml:1: backlog.keepSending: without load.rate; add the rate at which producers go on while consumers drain`},
		"a rate to stop at":    {"backlog: {messages: 5, keepSending: false, rate: 5}", `f.yaml:1: backlog.rate: not used by backlog.keepSending: false`},
		"tails without a rate": {"backlog: {messages: 5, subscriptions: 1}\nsubscriptions: 2", `f.yaml:1: backlog.subscriptions: the other consumers would receive nothing while the backlog drains; add backlog.rate, or load.rate with backlog.keepSending`},
		"more lag than there":  {"backlog: {messages: 5, subscriptions: 3, rate: 5}\nsubscriptions: 2", `f.yaml:1: backlog.subscriptions: 3 is out of range; allowed: 1 to 2`},
		"a topic among others": {"backlog: {messages: 5, topics: 1, rate: 5}\ntopics: 2\nconnections: 1", `f.yaml:1: backlog.topics: can't be combined with connections: 1, where one consumer receives several topics; allowed with connections: 0`},
		"time of a backlog":    {"backlog: {messages: 5}\nduration: 9s", `f.yaml:2: duration: not used by backlog.drainRatio: 1: it ends when that share is gone; allowed with drainRatio: 0`},
		"warm-up of a backlog": {"backlog: {messages: 5}\nwarmup: 9s", `f.yaml:2: warmup.for: not used by measure: backlog (which the other settings imply), only by rate, peak, curve, read`},
		"warm-up of a count":   {"count: {messages: 5}\nwarmup: auto", `f.yaml:2: warmup.auto: not used by measure: count (which the other settings imply), only by rate, peak, curve, read`},
		"random samples":       {"payloadFile: DIR/ten\nrandomBytesRatio: 0.2", `f.yaml:2: randomBytesRatio: not used: payloads are read from payloadFile; allowed with useRandomizedPayloads: true`},
		"random zeros":         {"useRandomizedPayloads: false\nrandomizedPayloadPoolSize: 5", `f.yaml:2: randomizedPayloadPoolSize: not used: payloads are all zero bytes; allowed with useRandomizedPayloads: true`},
		"fault after the end":  {"rate: 5\nduration: 10s\nfaults: [{at: 10s, do: kill}]", `f.yaml:3: faults: kill at 10s: the measured phase ends at 10s`},
		"fault before":         {"rate: 5\nfaults: [{at: -1s, do: kill}]", `f.yaml:2: faults: kill at -1s: an offset is from the start of the measured phase, 0 or more`},
		"fault without a verb": {"rate: 5\nfaults: [{at: 1s}]", `f.yaml:2: faults: no do; allowed: pause, resume, kill, restart`},
		"endless pause":        {"rate: 5\nfaults: [{at: 1s, do: pause}]", `f.yaml:2: faults: pause at 1s: it never ends; add for, or a resume of node 1`},
		"resume of nothing":    {"rate: 5\nfaults: [{at: 1s, do: resume}]", `f.yaml:2: faults: resume at 1s: nothing was paused before it on node 1`},
		"for of a restart":     {"rate: 5\nfaults: [{at: 1s, do: restart, for: 1s}]", `f.yaml:2: faults: restart at 1s: for is only used by pause and kill`},
		"no such node":         {"rate: 5\nfaults: [{at: 1s, do: kill, node: 2}]", `f.yaml:2: faults: kill at 1s: node "2" is not there; allowed: 1 to 1, all, leader`},
		"killed for all":       {"rate: 5\nisolation: shared\nfaults: [{at: 1s, do: kill}]", `f.yaml:3: faults: kill at 1s: with isolation: shared the next point would find no broker; add for, or a restart of node 1`},
		"faults in a search":   {"measure: sustainable\nfaults: [{at: 1s, do: kill}]", `f.yaml:2: faults: not used by measure: sustainable, only by rate, peak, count, backlog`},
		"attached and broken":  {"rate: 5\nattach: 'a:1'\nfaults: [{at: 1s, do: kill}]", `f.yaml:3: faults: can't be combined with attach: that broker was not started here`},
		"attached and new":     {"attach: ['a:1']\nisolation: fresh\nversion: 3\nserver: {x: 1}\nnodes: 3", "f.yaml:2: isolation: fresh can't be combined with attach: that broker was not started here; allowed: shared\nf.yaml:4: server: can't be combined with attach: that broker was not started here\nf.yaml:5: nodes: can't be combined with attach: that broker was not started here"},
		"attached to no port":  {"attach: ['a:1', 'localhost:99999']", `f.yaml:1: attach: "localhost:99999" has no port from 1 to 65535; allowed: host:port, [address]:port for IPv6`},
		"attached to options":  {"attach: ['a:1', '--command-config=/tmp/x:9092']", `f.yaml:1: attach: "--command-config=/tmp/x:9092" names no host; allowed: letters, digits and . _ - : %, not - first`},
		"attached to a path":   {"attach: ['a/b?c=d:1', '[fe80::1%eth0]:1', 'bro-ker_1.example.org:1', ':1']", `f.yaml:1: attach: "a/b?c=d:1" names no host; allowed: letters, digits and . _ - : %, not - first`},
		"attached to a URL":    {"attach: ['ws://localhost:80/mqtt']", `f.yaml:1: attach: "ws://localhost:80/mqtt" is a URL; allowed: host:port; tls and the broker's client settings say how it is spoken to`},
		"attached to nowhere":  {"attach: [localhost]", `f.yaml:1: attach: "localhost" is not an address; allowed: host:port`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse("f.yaml", []byte(strings.ReplaceAll(c.doc, "DIR", dir)+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Points()
			wantError(t, err, strings.ReplaceAll(c.want, "DIR", dir))
		})
	}
}

func TestWhatTheStudiesAskForIsAllowed(t *testing.T) {
	for name, doc := range map[string]string{
		"no subscription":         "subscriptions: 0\nrate: 5",
		"the smallest message":    "messageSize: 8",
		"the first step forever":  "load: {shape: steps, steps: [{rate: 0, for: 1s}, {rate: 5}]}",
		"bursts out of silence":   "load: {shape: bursts, burst: {rate: 9, every: 2s, for: 1s}}",
		"ramp from nothing":       "load: {shape: ramp, rate: 0, to: 10}",
		"ordered by key":          "ordering: ordered\npartitions: 8\nconsumers: 8\nkeyDistributor: RANDOM_NANO",
		"pause and resume":        "rate: 5\nfaults: [{at: 2s, do: resume}, {at: 1s, do: pause}]",
		"pause one, resume all":   "rate: 5\nnodes: 3\nfaults: [{at: 1s, do: pause, node: 2}, {at: 2s, do: resume, node: all}]",
		"kill the leader":         "rate: 5\nnodes: 3\nreplicas: 3\nfaults: [{at: 1s, do: kill, node: leader, for: 2s}]",
		"replicas where attached": "attach: 'a:1'\nreplicas: 3",
		"a count at a rate":       "count: {messages: 5}\nload: {shape: poisson, rate: 40}",
		"curve at fixed rates":    "curve: {rates: {from: 1000, to: 30000, step: 1000}}\nwarmup: 10s\nduration: 10s",
		"no warm-up of a count":   "count: {messages: 5}\nwarmup: 0s",
		"a backlog for a time":    "backlog: {messages: 5, drainRatio: 0}\nduration: 9s",
		"none of what isn't made": "useRandomizedPayloads: false\nrandomBytesRatio: 0\nrandomizedPayloadPoolSize: 0",
		"a bounded rate":          "sustainable: {latency: 200ms}\nsize: 100",
		"several bounds":          "sustainable: {goals: [{}, {latency: 10ms}, {latency: 10ms, quantile: 0.5}]}",
		"poisson when searching":  "measure: sustainable\nload: {shape: poisson}",
		"poisson levels":          "curve: {rates: [5]}\nload: {shape: poisson}",
	} {
		t.Run(name, func(t *testing.T) { one(t, doc) })
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
