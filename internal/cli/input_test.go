package cli_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Every complaint is a sentence that says which thing, what was seen and what is allowed; {tmp} stands for the test's
// directory, {brokers} and {recipes} for those there are.
func TestBadInputIsASentenceAndExitCode2(t *testing.T) {
	files := map[string]string{
		"unknown-key.yaml": "messageSiz: 100\n",
		"ill-typed.yaml":   "topics: many\n",
		"syntax.yaml":      "a: [\n",
		"empty.yaml":       "",
		"blank":            "\nsecond line\n",
		"rows.csv":         "id,body\n1,12345678\n",
		"tab.yaml":         "broker: sim\n\tmeasure: peak\n",
		"repeats.yaml":     "measure: peak\nrepeats: 100000000000\n",
		"base.yaml":        "base:\n  linger: 5\n",
		"list.yaml":        "- 1\n",
		"secret.yaml":      "broker: nats\nserver: {authorization.token: s3cr3t}\n",
		"secret-url.yaml":  "broker: nats\nserver: {leafnodes.remote: 'nats://eve:s3cr3t@h:1'}\n",
		"token.yaml":       "attach: ['s3cr3t@h:4222']\n",
		"strange.yaml":     "broker: redis\nserver: {loadmodule: /tmp/x.so}\n",
		"greedy.yaml":      "{broker: nats, attach: ['a:1'], user: u, passwordEnv: HOME}\n",
		"broken.yaml":      "broker: rabbitmq\nserver: {default_vhost: \"/\\nlisteners.tcp.2 = x\"}\n",
		"spelled.yaml":     "base: {broker: sim, measure: peak}\naxes:\n  client.latency: [5ms, 0s, 0ms]\n",
		"by-default.yaml":  "base: {broker: sim, measure: peak}\npoints:\n- {client.latency: 0s}\n- {client.latency: 0ms}\n",
		"nodes.yaml":       "broker: sim\nnodes: 3\nmeasure: peak\n",
	}
	t.Setenv("SHORT_TOKEN", "s3same")
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	huge := filepath.Join(dir, "huge")
	write(t, huge, "")
	if err := os.Truncate(huge, 10<<30); err != nil { // a sparse file
		t.Fatal(err)
	}
	known := strings.NewReplacer("{tmp}", dir, "{brokers}", strings.Join(driver.Names(), ", "), "{recipes}", strings.Join(provision.Names(), ", "))
	for _, c := range []struct{ args, want string }{
		{"check {tmp}/unknown-key.yaml", `{tmp}/unknown-key.yaml:1: messageSiz: unknown key "messageSiz"; did you mean "messageSize"?`},
		{"check {tmp}/ill-typed.yaml", `{tmp}/ill-typed.yaml:1: topics: "many" is not a whole number`},
		{"check {tmp}/syntax.yaml", `{tmp}/syntax.yaml:1: not YAML: did not find expected node content`},
		{"check {tmp}/empty.yaml", `{tmp}/empty.yaml: empty; a study says at least what is measured, such as measure: peak`},
		{"check /dev/zero", `study file /dev/zero can't be read: not an ordinary file`},
		{"check {tmp}/huge", `study file {tmp}/huge can't be read: too long: 10737418240 bytes, allowed are 67108864`},
		{"check --set payloadFile={tmp}/huge", `--set 'payloadFile={tmp}/huge': payloadFile: payloads can't be read: more than 64MiB of samples`},
		{"check {tmp}/list.yaml", `{tmp}/list.yaml:1: a list is not a study; allowed: a mapping of settings`},
		{"check {tmp}/none.yaml", `study file {tmp}/none.yaml can't be read: no such file or directory`},
		{"check {tmp}", `study file {tmp}/study.yaml can't be read: no such file or directory`},
		{"check head-to-haed", `no study or file "head-to-haed"; studies: `},
		{"check --broker nats --delivery exactly-once", `every point would be refused; the first: --delivery exactly-once: delivery: exactly-once is not supported: core NATS keeps no copy of a message and confirms none; jetstream does`},
		{"check --replicas 3", `--replicas 3: replicas: 3 replicas don't fit on 1 node; add nodes: 3`},
		{"check --size 7", `--size 7: messageSize: 7 bytes is too small; allowed: 8 (a message's identity) to 256MiB`},
		{"check --size=-5", `--size -5: messageSize: -5 bytes is too small; allowed: 8 (a message's identity) to 256MiB`},
		{"check --size 9EiB", `--size 9EiB: messageSize: "9EiB" is beyond 1 PiB`},
		{"check --set payloadFile={tmp}/none", `--set 'payloadFile={tmp}/none': payloadFile: no file or directory "{tmp}/none" here, beside the study or one folder above it; without it (payloadFile: "") payloads are made up`},
		{"check --set payloadFile={tmp}/empty.yaml", `--set 'payloadFile={tmp}/empty.yaml': payloadFile: payloads can't be read: {tmp}/empty.yaml has 0 bytes; a message needs at least 8`},
		{"check --set payloadFile={tmp}/rows.csv", `--set 'payloadFile={tmp}/rows.csv': payloadFile: payloads can't be read: {tmp}/rows.csv has rows of several columns; payloadColumn says which one holds the payloads; there are: id, body`},
		{"check --broker sim --subscriptions 3 --consumers 3+2", `--consumers 3+2: consumerPerSubscription: 3+2 are the consumers of 2 subscriptions; subscriptionsPerTopic is 3`},
		{"check {tmp}/spelled.yaml", `{tmp}/spelled.yaml:3: client.latency: 0ms means the same as 0s, so that two points would be the same work; allowed: each value once`},
		{"check {tmp}/by-default.yaml", `{tmp}/by-default.yaml:4: client.latency: 0ms means the same as 0s`},
		{"check --broker kafak", `--broker kafak: unknown broker "kafak"; known: {brokers}; did you mean "kafka"?`},
		{"check --broker=", `--broker '': broker: "" is not a broker; allowed: a name such as kafka, or kafka@4.3.1`},
		{"check --broker nats@9", `--broker nats@9: nats: no version "9"; obtainable: `},
		{"run --broker kafka@9.9.9,sim --store {tmp}/never.db", `--broker kafka@9.9.9,sim: kafka: no version "9.9.9"; obtainable: `},
		{"run kafka@4.3.1", `no study or file "kafka@4.3.1"; a broker is named by a flag: --broker kafka@4.3.1`},
		{"check nats", `no study or file "nats"; a broker is named by a flag: --broker nats`},
		{"run --broker sim --junit {tmp}/none/x.xml", `--junit: {tmp}/none/x.xml can't be written: no such file or directory`},
		{"run --broker sim --junit {tmp}", `--junit: {tmp} can't be written: is a directory`},
		{"import {tmp}/empty.yaml", `{tmp}/empty.yaml is empty`},
		{"check --broker sim --set client.lateny=5ms", `--set 'client.lateny=5ms': client setting "lateny" is unknown; did you mean "latency"?`},
		{"check --broker sim --set client.latency=soon", `--set 'client.latency=soon': sim: client setting "latency": "soon" is not a duration such as 5ms`},
		{"check --set clinet=5", `--set 'clinet=5': clinet: unknown key "clinet"; did you mean "client"?`},
		{"check --set base.linger=5", `--set 'base.linger=5': base.linger: unknown key "base.linger"; settings of a broker stand below client, server or topicConfig; brokermark list settings shows all others`},
		{"check {tmp}/tab.yaml", `{tmp}/tab.yaml:2: not YAML: a tab indents measure: peak; allowed: spaces`},
		{"check {tmp}/repeats.yaml", `{tmp}/repeats.yaml:2: repeats: 100000000000 is out of range; allowed: 1 to 10000`},
		{"check --broker kafka --axis base.linger=1,2", `--axis 'base.linger=1,2': base.linger: unknown key "base.linger"; settings of a broker stand below client, server or topicConfig; brokermark list settings shows all others`},
		{"check {tmp}/base.yaml", `{tmp}/base.yaml:2: base.linger: unknown key "linger"; did you mean "client.linger.ms"?`},
		{"check --rate fast", `--rate fast: load.rate: "fast" is not a rate; allowed: messages per second, such as 20000, 20k or 20k/s`},
		{"check --rate 0k/s", `--rate 0k/s: load.rate: 0 is not a rate; allowed: above 0, up to 100000000 messages per second`},
		{"check --set foo", `--set 'foo': not a setting; allowed: path=value, such as load.rate=1000`},
		{"check --axis foo", `--axis 'foo': not an axis; allowed: path=value,value, such as load.rate=1000,20000`},
		{"check --axis inFlight.messages=1,x", `--axis 'inFlight.messages=1,x': inFlight.messages: "x" is not a whole number`},
		{"check --measure speed", `--measure speed: measure: "speed" is not one of rate, peak, sustainable, curve, count, backlog`},
		{"check --rate 1e12", `--rate 1e12: load.rate: 1000000000000 is not a rate; allowed: above 0, up to 100000000 messages per second`},
		{"check --repeat 0", `--repeat 0: repeats: 0 is out of range; allowed: 1 to 10000`},
		{"run --broker sim --rate 100 --store {tmp}/never.db --fail-if sustainable<5k", `--fail-if: sustainable<5k: measure: rate doesn't find it; measure: sustainable and curve without rates do`},
		{"check --broker sim --rate 100 --fail-if sustainable<5k", `--fail-if: sustainable<5k: measure: rate doesn't find it; measure: sustainable and curve without rates do`},
		{"check --broker sim --measure count,peak --fail-if e2e_p99>5ms", `--fail-if: e2e_p99>5ms: measure: count is a closed loop`},
		{"check --broker sim --rate 100 --fail-if 5", `--fail-if: "5" is no threshold; allowed: METRIC OPERATOR VALUE`},
		{"run --broker sim --rate 100 --store {tmp}/never.db --fail-if p99>5ms", `--fail-if: unknown metric "p99"; did you mean "e2e_p99"?`},
		{"check --broker kafka --set acks=all", `--set 'acks=all': acks: "all" is not one of none, leader, quorum; did you mean "quorum"?`},
		{"check --broker kafka --rate 100 --set client.acks=all", `--set 'client.acks=all': client setting "acks" is unknown; a spec says it itself: acks: none, leader or quorum (Kafka's 0, 1 and all)`},
		{"check --broker kafka --set linger.ms=5", `--set 'linger.ms=5': linger.ms: unknown key "linger.ms"; did you mean "client.linger.ms"?`},
		{"check --broker kafka --set client.compression=lz4 --rate 5", `--set 'client.compression=lz4': client setting "compression" is unknown; did you mean "compression.type"?`},
		{"check --set latency=20ms", `--set 'latency=20ms': latency: unknown key "latency"; did you mean "sustainable.latency"?`},
		{"check --rate 100 --latency 20ms", `--latency 20ms: sustainable.latency: not used by measure: rate (which the other settings imply), only by sustainable, curve; at a given rate objectives or --fail-if 'e2e_p99 > 20ms' bound it`},
		{"check --measure throughput", `--measure throughput: measure: "throughput" is not one of rate, peak, sustainable, curve, count, backlog, read; did you mean "peak"?`},
		{"figure latency -o {tmp}/x.svg", `unknown figure "latency"; known: latency-throughput, percentiles, timeseries, cost, sustainable, heatmap, multiples, and exhibits such as dyjach-2024/4; did you mean "latency-throughput"?`},
		{"check --rate 5,000", `--rate 5,000: load.rate: 5,000 are 2 values, the last one 000; a number has no commas: 5000`},
		{"check --rate 10,500", `--rate 10,500: load.rate: 10,500 may be one rate or 2; allowed: 10500 for one, 10/s,500/s for 2`},
		{"check --size 1,024", `--size 1,024: messageSize: 1,024 are 2 values, the last one 024; a number has no commas: 1024`},
		{"check --attach=", `--attach : attach: no address; allowed: host:port of each node`},
		{"check --broker kafka --tls perhaps", `--tls perhaps: tls: "perhaps" is not one of off, on, mutual`},
		{"check --user eve", `--user eve: user: only with attach; a broker that is started here needs none`},
		{"check --attach a:1 --user eve", `--user eve: user: no password; passwordEnv names an environment variable that holds it, passwordFile a file`},
		{"check --attach a:1 --user eve --password-env NO_SUCH_VARIABLE", `--password-env NO_SUCH_VARIABLE: passwordEnv: there is no environment variable NO_SUCH_VARIABLE, or it is empty`},
		{"check --attach a:1 --user eve --password-file {tmp}/none", `--password-file {tmp}/none: passwordFile {tmp}/none can't be read: no such file or directory`},
		{"check --attach a:1 --user eve --password-file {tmp}/blank", `--password-file {tmp}/blank: passwordFile {tmp}/blank: its first line, which is the password, is empty`},
		{"check --attach a:1 --tls on --ca-file {tmp}/empty.yaml", `--ca-file {tmp}/empty.yaml: caFile {tmp}/empty.yaml holds no certificate in PEM form`},
		{"check --attach a:1 --tls mutual --cert-file {tmp}/none --key-file {tmp}/none", `--cert-file {tmp}/none: certFile {tmp}/none with keyFile {tmp}/none can't be used: no such file or directory`},
		{"check --attach a:1 --tls mutual", `command-line: certFile: missing; an attached broker with tls: mutual needs certFile and keyFile`},
		{"check --store postgres://eve:s3cr3t@db/bench", `argument "postgres://eve:xxxxx@db/bench" holds a secret, which every user of this machine can see in the list of processes`},
		{"check --store postgres:/eve:s3cr3t@db/bench", `argument "postgres:/eve:xxxxx@db/bench" holds a secret, which every user of this machine can see in the list of processes`},
		{"report --store=postgres://db/bench?user=eve&password=s3cr3t", `argument "--store=postgres://db/bench?user=eve&password=xxxxx" holds a secret, which every user of this machine can see in the list of processes`},
		{"report --store password=s3cr3t", `argument "password=xxxxx" holds a secret, which every user of this machine can see in the list of processes`},
		{"compare a.db postgres://eve:s3cr3t@db/bench", `argument "postgres://eve:xxxxx@db/bench" holds a secret, which every user of this machine can see in the list of processes`},
		{"run --broker sim --set count.messages=9 --store {tmp}/s.db --control 10.0.0.1:4248", "--control: only used with --agents"},
		{"run --broker sim --set count.messages=9 --store {tmp}/s.db --token-file token", "--token-file: only used with --agents"},
		{"run --broker sim --set count.messages=9 --store {tmp}/s.db --token-env TOKEN", "--token-env: only used with --agents"},
		{"run --broker sim --set count.messages=9 --store {tmp}/s.db --agents-wait 5s", "--agents-wait: only used with --agents"},
		{"run --broker sim --set count.messages=9 --store {tmp}/s.db --watch-token-env TOKEN", "--watch-token-env: only used with --watch or --metrics"},
		{"check --attach s3cr3t@a:1", `argument "--attach=xxxxx@a:1" holds a secret, which every user of this machine can see in the list of processes`},
		{"check --broker redis --set server.requirepass=s3cr3t", `argument "server.requirepass=xxxxx" holds a secret, which every user of this machine can see in the list of processes`},
		{"broker up redis --server requirepass=s3cr3t", `argument "requirepass=xxxxx" holds a secret, which every user of this machine can see in the list of processes`},
		{"check {tmp}/secret.yaml", `{tmp}/secret.yaml:2: server.authorization.token: it holds a secret, which would stand in every record; user names the user of an attached broker, and passwordEnv or passwordFile say where the password is`},
		{"check {tmp}/secret-url.yaml", `{tmp}/secret-url.yaml:2: server.leafnodes.remote: it holds a secret, which would stand in every record; user names the user of an attached broker, and passwordEnv or passwordFile say where the password is`},
		{"check {tmp}/token.yaml", `{tmp}/token.yaml:1: attach: an address holds no user, password or token; user names the user of an attached broker, and passwordEnv or passwordFile say where the password is`},
		{"check {tmp}/strange.yaml", `{tmp}/strange.yaml:2: server.loadmodule: it may have the broker load code, run commands, use files or listen; if you trust the document, say --trust-spec; brokermark list settings redis names what needs no trust`},
		{"check {tmp}/greedy.yaml", `{tmp}/greedy.yaml:1: passwordEnv: it sends a secret of yours where the document says; name it with a flag, or trust the document with --trust-spec`},
		{"check {tmp}/broken.yaml", `{tmp}/broken.yaml:2: server.default_vhost: its name and value must be one line, without control characters`},
		{"run --watch 0.0.0.0:0", `--watch 0.0.0.0:0: that address can be reached from other machines: a token is needed (--watch-token-env), and a proxy in front for TLS; or listen on 127.0.0.1`},
		{"run --metrics :0 --watch-token-env SHORT_TOKEN", `--watch-token-env SHORT_TOKEN: its first line has to be a token of at least 16 characters`},
		{"run --metrics :0 --watch-token-env NO_SUCH_VARIABLE", `--watch-token-env NO_SUCH_VARIABLE: there is no such environment variable, or it is empty`},
		{"broker up nats --tls perhaps", `--tls perhaps: unknown; allowed: off, on, mutual`},
		{"broker up nats --user eve", `--user eve: no password; --password-env names an environment variable that holds it`},
		{"check --broker rabbitmq --set client.prefetch=-4", `--set 'client.prefetch=-4': rabbitmq: client setting "prefetch": -4 is out of range; allowed: 0 to 65535`},
		{"check --broker kafka --set client.lingr.ms=5", `--set 'client.lingr.ms=5': client setting "lingr.ms" is unknown; did you mean "linger.ms"?`},
		{"check --broker kafka --attach a:1 --login nkey --password-file {tmp}/blank", `every point would be refused; the first: --login nkey: login: nkey is not supported: the driver of kafka logs in by: user and password, token, oauth, aws`},
		{"check --broker kafka --set client.commit.interval.ms=50", `every point would be refused; the first: --set 'client.commit.interval.ms=50': client setting "commit.interval.ms" is not supported: it would have no effect: only delivery: exactly-once has transactions`},
		{"check --broker nats --set keyDistributor=RANDOM", `every point would be refused; the first: --set 'keyDistributor=RANDOM': keyDistributor: RANDOM is not supported: a subject has neither partitions nor keys; use NO_KEY`},
		{"check --broker artemis --attach 127.0.0.1:1 --topic orders", `every point would be refused; the first: --topic orders: topicName: orders is not supported: the driver of artemis uses only what it has made; allowed with: `},
		{"check --broker nats --attach 127.0.0.1:1 --topic orders --set read.from=start", `every point would be refused; the first: --set 'read.from=start': read.from: start is not supported: a subject keeps nothing; a stream does (broker jetstream)`},
		{"check --broker rabbitmq --attach 127.0.0.1:1 --topic orders --measure read", `every point would be refused; the first: --measure read: measure: read is not supported: to read a queue is to remove what others have in it`},
		{"check --broker kafka --topic-prefix mine:", `every point would be refused; the first: --topic-prefix mine:: topicPrefix: mine: is not supported: a name here has no ":"`},
		{"check --broker mosquitto --partitions 4", `every point would be refused; the first: --partitions 4: partitionsPerTopic: 4 is not supported: an MQTT topic has neither partitions nor keys; use more topics`},
		{"check --broker pulsar --delivery exactly-once --set acks=quorum --set client.transactions=true", `every point would be refused; the first: --set 'client.transactions=true': client.transactions: true is not supported: consumers would receive the messages of aborted transactions until apache/pulsar-client-go issue 1498 is mended; delivery: exactly-once works without them, by deduplication`},
		{"check --broker pulsar --delivery exactly-once --set acks=quorum --relays 2", `every point would be refused; the first: --relays 2: relays: 2 with delivery: exactly-once is not supported: consumers would receive the messages of aborted transactions until apache/pulsar-client-go issue 1498 is mended; allowed with delivery: at-least-once`},
		{"check --broker pulsar --set topicConfig.messageTTLInSeconds=-5", `--set 'topicConfig.messageTTLInSeconds=-5': pulsar: topic setting "messageTTLInSeconds": -5 is out of range; allowed: 0 or more`},
		{"check --broker rabbitmq --partitions 3 --set topicConfig.exchange=fanout", `every point would be refused; the first: --set 'topicConfig.exchange=fanout': topicConfig.exchange: fanout is not supported: it gives every partition a copy; a topic has 3 partitions`},
		{"check --broker rabbitmq@4.0.5 --set topicConfig.x-queue-mode=lazy", `every point would be refused; the first: --set 'topicConfig.x-queue-mode=lazy': topicConfig.x-queue-mode is not supported: RabbitMQ 4.0.5 ignores it`},
		{"check --broker rabbitmq --nodes 3 --replicas 3 --set topicConfig.x-queue-type=classic", `every point would be refused; the first: --replicas 3: replicas: 3 is not supported: a classic queue has 1 copy here; use a quorum queue`},
		{"check --broker kafka --set ordering=ordered --set acks=leader --set client.max.in.flight.requests.per.connection=5", `every point would be refused; the first: --set 'client.max.in.flight.requests.per.connection=5': client.max.in.flight.requests.per.connection is not supported: ordering: ordered with retries needs 1`},
		{"check --broker activemq --subscriptions 2 --set topicConfig.destination=queue", `every point would be refused; the first: --set 'topicConfig.destination=queue': topicConfig.destination: queue is not supported: it gives a message to one consumer; there are 2 subscriptions`},
		{"check --broker rabbitmq --delivery at-least-once --set client.consumer.ack=before", `every point would be refused; the first: --set 'client.consumer.ack=before': client.consumer.ack: before is not supported: a message that is acknowledged before the application has it is lost with its consumer, which is at most once; at-least-once needs after`},
		{"check --broker rabbitmq --set client.frame_max=262144", `every point would be refused; the first: --set 'client.frame_max=262144': client.frame_max is not supported: the server lowers 262144 to 131072`},
		{"check --broker nats --size 2MiB", `every point would be refused; the first: --size 2MiB: messageSize: 2097152 is not supported: the server takes at most 1048576 bytes; raise its setting max_payload`},
		{"check --broker jetstream --persistence fsync --set server.jetstream.sync_interval=2s", `every point would be refused; the first: --persistence fsync: persistence: fsync is not supported: it needs jetstream.sync_interval: always, and the spec says 2s`},
		{"check {tmp}/nodes.yaml", `every point would be refused; the first: {tmp}/nodes.yaml:2: nodes: 3 is not supported: sim runs in this process, anew for each repetition`},
		{"check --broker sim --set client.latency=1ms --axis client.latency=1ms,2ms", `--set 'client.latency=1ms': client.latency: given twice: --axis 'client.latency=1ms,2ms' gives it as well`},
		{"check --rate 5,6 --set load.rate=7", `--set 'load.rate=7': load.rate: given twice: --rate 5,6 gives it as well`},
		{"check --rate 1000,2000 --axis load.rate=5,6", `--axis 'load.rate=5,6': load.rate: given twice: --rate 1000,2000 gives it as well`},
		{"check --rate 5 --rate 6", `invalid argument "6" for "--rate" flag: given twice: it is 5 already`},
		{"check --attach a:1 --user eve --user bob", `invalid argument "bob" for "--user" flag: given twice: it is eve already`},
		{"check --set curve.rates=500,2000", `--set 'curve.rates=500,2000': curve.rates: "500,2000" is not a list of numbers; allowed: such as [500,2000]`},
		{"check --rate=", `--rate '': load.rate: "" is not a rate; allowed: messages per second, such as 20000`},
		{"check --quick=perhaps", `invalid argument "perhaps" for "--quick" flag`},
		{"check --format pdf", `--format pdf: unknown format; allowed: table, csv, `},
		{"run --format pdf", `--format pdf: unknown format; allowed: table, jsonl`},
		{"run --brokr nats", `unknown flag --brokr for "brokermark run"; did you mean --broker?`},
		{"run --broker sim --store {tmp}/s.db --log {tmp}/none/log", `log file: open {tmp}/none/log: no such file or directory`},
		{"rnu", `unknown command "rnu" for "brokermark"; did you mean "run"?`},
		{"agent lst", `unknown command "lst" for "brokermark agent"; did you mean "list"?`},
		{"completion bsh", `unknown command "bsh" for "brokermark completion"; did you mean "bash"?`},
		{"list brokesr", `unknown command "brokesr" for "brokermark list"; did you mean "brokers"?`},
		{"list settings kfka", `unknown broker "kfka"; known: {brokers}; did you mean "kafka"?`},
		{"list guarantees kfka", `unknown broker "kfka"; known: {brokers}; did you mean "kafka"?`},
		{"check proof/kafak", `proof/kafak: no broker "kafak" that could be started here; did you mean "proof/kafka"?`},
		{"check proof/sim", `proof/sim: no broker "sim" that could be started here`},
		{"report sumary", `unknown report "sumary"; known: `},
		{"compare a", `compare needs two sides, and was given 1`},
		{"compare kafka kafka", `both sides are kafka: there is nothing to compare`},
		{"broker up nts", `no recipe to start "nts"; known: {recipes}; did you mean "nats"?`},
		{"broker up nats@9", `nats: no version "9"; obtainable: `},
		{"broker up nats --nodes 99", `nats: a cluster of 99 nodes was asked for, at most 9 can be started`},
		{"broker up nats --nodes 0", `--nodes 0: allowed: 1 or more`},
		{"broker up nats --port client=x", `--port client=x: not a port; allowed: 1 to 65535`},
		{"broker up nats --port clint=1", `nats: no port is named "clint"; there are: client, monitor, route`},
		{"broker up nats --server foo=1", `configure nats: server setting "foo": unknown field "foo"`},
		{"broker down", `name the brokers to stop, or --all`},
		{"broker down nats", `no broker is running below `},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(c.args, "{tmp}", dir))
			complains(t, brokermark(t, args...).want(t, 2), known.Replace(c.want))
		})
	}
	if _, err := os.Stat("brokermark.db"); err == nil {
		t.Error("bad input made a store")
	}
}

// A parser that compares every key of a mapping with every other one takes gigabytes for such documents.
func TestADocumentTakesTimeAndMemoryInProportionToItsLength(t *testing.T) {
	dir := t.TempDir()
	mapping := func(indent string, keys int) string {
		var b strings.Builder
		for i := range keys {
			fmt.Fprintf(&b, "%sk%d: 1\n", indent, i)
		}
		return b.String()
	}
	wish := "rate: 1k\nbrokers:\n- name: a\n  set:\n    broker: nats\n"
	for name, c := range map[string]struct{ command, text, want string }{
		"one key":           {"check", strings.Repeat("k: 1\n", 4000), ":2: k: given twice, first at line 1"},
		"one key in a wish": {"advise", wish + strings.Repeat("    k: 1\n", 9000), ":7: k: given twice, first at line 6"},
		"many keys":         {"check", "client:\n" + mapping("  ", 40_000), ":2: client: 40000 elements; allowed: 10000"},
		"many mappings":     {"check", strings.Repeat("-\n"+mapping("  ", 9999), 8), ":1: a list is not a study"},
		"a driver":          {"check", "driverClass: io.kafka.X\nproducerConfig: |\n" + strings.ReplaceAll(mapping("  ", 40_000), ":", " ="), "40001 settings; allowed: up to 1000"},
		"lists of lists":    {"check", "a: &a []\n" + nested(8, 9) + "axes: *b7\n", "where each alias stands for its anchor"},
		"deep ones":         {"check", "a: &a {k: 1}\n" + nested(400, 1) + "client: *b399\n", " levels of lists and mappings; allowed: 32"},
		"unknown keys":      {"check", mapping(strings.Repeat("k", 240), 9999), ":1: "},
		"a long key":        {"check", "client:\n  " + strings.Repeat("k", 300) + ":\n" + mapping("    ", 9000), ":3: a key of 300 bytes; allowed: 250"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, "d.yaml")
			write(t, file, c.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			r := brokermark(t, c.command, file, "--store", filepath.Join(dir, "s.db")).want(t, 2)
			runtime.ReadMemStats(&after)
			if took, since := after.TotalAlloc-before.TotalAlloc, time.Since(began); !strings.Contains(r.err, c.want) || took > 700<<20 || since > testkit.Within(6*time.Second) {
				t.Errorf("took %d MB and %s for %d KB, and said\n%s", took>>20, since, len(c.text)>>10, r.err)
			}
		})
	}
}

// nested writes anchors b0, b1 and so on, each a list of the one before, so many times.
func nested(levels, times int) string {
	var b strings.Builder
	for i := range levels {
		last := "a"
		if i > 0 {
			last = fmt.Sprint("b", i-1)
		}
		fmt.Fprintf(&b, "b%d: &b%d [%s]\n", i, i, strings.Repeat("*"+last+", ", times))
	}
	return b.String()
}

// complains checks that the first complaint begins with want and that nothing looks like a stack trace.
func complains(t *testing.T, r result, want string) {
	t.Helper()
	first := ""
	for line := range strings.Lines(r.err) {
		if text, ok := strings.CutPrefix(line, "brokermark: "); ok {
			first = strings.TrimSpace(text)
			break
		}
	}
	if !strings.HasPrefix(first, want) {
		t.Errorf("complained\n  %s\nwant\n  %s", first, want)
	}
	if strings.Contains(r.err, "goroutine ") || strings.Contains(r.err, "panic") {
		t.Errorf("a stack trace:\n%s", r.err)
	}
}

func TestAStoreThatCantBeUsedIsExitCode6(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("text.db"), "this is a text and no database at all\n")
	brokermark(t, short("--store", in("other.db"))...).want(t, 0)
	execute(t, in("other.db"), "UPDATE brokermark_store SET layout = 99")
	execute(t, in("foreign.db"), "CREATE TABLE something (other INTEGER)")
	for _, c := range []struct {
		store, want string
		args        []string
	}{
		{in("text.db"), " is not a SQLite file", short()},
		{in("other.db"), " was written by another version of brokermark (layout 99, this one has 2)", short()},
		{in("other.db"), " was written by another version of brokermark", []string{"report"}},
		{in("other.db"), " was written by another version of brokermark", []string{"check"}},
		{in("foreign.db"), " is a database of something else", short()},
		{dir, " is a directory", short()},
		{"/dev/null", " is no ordinary file", short()},
		{in("none/s.db"), " lies in a folder that does not exist", short()},
		{"/proc/brokermark.db", " can't be made: this user may not make files in /proc", short()},
		{in("none/s.db"), " lies in a folder that does not exist", []string{"check"}},
		{in("none.db"), " does not exist: run a study first", []string{"report"}},
		{in("none.db"), " does not exist: run a study first", []string{"export"}},
		{in("none.db"), " does not exist: run a study first", []string{"compare", "a", "b"}},
	} {
		t.Run(strings.Join(c.args[:1], " ")+c.want, func(t *testing.T) {
			complains(t, brokermark(t, append(c.args, "--store", c.store)...).want(t, 6), "store "+c.store+c.want)
		})
	}
}

func TestASideOfAComparisonThatNamesAFileIsNoBroker(t *testing.T) {
	db := demoStore(t)
	for _, file := range []string{"none.db", "./none", filepath.Join(t.TempDir(), "none.db")} {
		for _, sides := range [][]string{{"kafka", file}, {file, "kafka"}} {
			complains(t, brokermark(t, append([]string{"compare", "--store", db}, sides...)...).want(t, 6), "store "+file+" does not exist")
		}
	}
}

func TestALockedStoreIsReportedAndNotWaitedForForever(t *testing.T) {
	t.Parallel() // it waits until the store's patience ends
	path := filepath.Join(t.TempDir(), "locked.db")
	brokermark(t, short("--store", path)...).want(t, 0)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	r := brokermark(t, short("--again", "--store", path)...).want(t, 6)
	if !strings.Contains(r.err, "is locked by another process") || !strings.Contains(r.err, "hint: ") {
		t.Errorf("stderr: %s", r.err)
	}
}

func TestABadSelectionIsExitCode2(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	brokermark(t, short("--store", path)...).want(t, 0)
	for where, want := range map[string]string{
		"foo":          `selection "foo": "foo" is not name=value`,
		"brokr=sim":    `selection "brokr=sim": no record has anything called "brokr"; did you mean "broker"?`,
		"broker=kafka": `selection "broker=kafka": no record has broker=kafka; there are: sim`,
	} {
		for _, command := range []string{"report", "export"} {
			complains(t, brokermark(t, command, "--store", path, "--where", where).want(t, 2), want)
		}
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestOfSeveralMistakesTheSameIsNamedEveryTime(t *testing.T) {
	for _, args := range []string{
		"run --broker sim --watch x --metrics y --store none.db",
		"broker up nats --port client=x --port http=y --port cluster=z",
		"pipeline server --broker nats --attach 127.0.0.1:1 --pool 0 --window 0 --waiting 0",
	} {
		seen := map[string]bool{}
		for range 20 {
			seen[brokermark(t, strings.Fields(args)...).want(t, 2).err] = true
		}
		if len(seen) > 1 {
			t.Errorf("%s: different complaints: %v", args, seen)
		}
	}
}
