package doubt

// ownDelay is the sentence of two kinds, which differ in how the delay came about.
const ownDelay = "part of the figure may be the generator's own delay, not the broker's"

// The kinds of the class generator.
var (
	GeneratorBound = add(Generator, Rate, "generator-bound", "the generator or its client reached its limit before the broker did: the rate is a lower bound",
		"Also the rate of a closed loop whose [limit](explain.md) is `client`")
	GeneratorLag = add(Generator, Delay, "generator-lag", ownDelay,
		"More than a tenth of a latency, by its lag and by threads that woke late, at p50, p99, p99.9 or the maximum; it says how much of each. Of a broker that takes 0.1 ms half may be ours")
	Pauses = add(Generator, Delay, "pauses", ownDelay,
		"The same where this process, an agent or a relay [stood still](#pauses). In a closed loop: for more than 1 % of the time, by which the rate is too low")
	OneInFlight = add(Generator, Rate, "one-in-flight", "each producer waits for every confirmation",
		"The window in bytes holds a single message, though one of several was asked for")
	ProducerBound = add(Generator, Rate, "producer-bound", "the producers' own work set the pace, not the broker",
		"The busiest spent more than 80 % of the time between its first and last message with `producerDelay`")
	ConsumerBound = add(Generator, Rate, "consumer-bound", "the consumers' own work set the pace, not the broker",
		"The busiest spent more than 80 % of the time between its first and last message with `consumerDelay`")
	Redelivered = add(Generator, Counts, "redelivered", "messages came again while consumers worked on them",
		"`consumerDelay` is longer than the broker waits for an acknowledgement, by the setting that is named")
	HandedOver = add(Generator, List, "handed-over", "the publish rate of a closed loop says how fast buffers filled, not how fast the broker is",
		"More than 1.1 times what came through was handed over, because nothing holds producers back (at most once). `throughput` says what the broker did")
)

// The kinds of the class machine.
var (
	BusyMachine = add(Machine, Row, "busy-machine", "other processes used the machine meanwhile",
		"More than a tenth of the cores; it names the process that used most")
	Stolen = add(Machine, Delay, "stolen", "the hypervisor stopped a core for long enough to lengthen the latency",
		"It took 50 ms or more of one core within half a second, and such times held up what ran there, the broker for example, by more than half of the p99 for more "+
			"than 1 % of the measured phase; likewise at p50, p99.9 and the maximum. It is read on this machine only, not on those of agents")
	CPULimit = add(Machine, Rate, "cpu-limit", "the broker used up the cores that the spec's limits leave it",
		"More than 90 % of `limits.broker.cpu` over all nodes")
	Held = add(Machine, Rate, "held", "the broker held producers back by itself, by a quota or an alarm: the rate is that limit",
		"It said so (RabbitMQ's `connection.blocked`, Kafka's throttling) for more than 5 % of the measured phase, in the words that are given")
	Others = add(Machine, Row, "others", "others used the topic meanwhile: the broker carried their messages, too",
		"With `topicName`. They are recognised by their payloads, and no figure includes them")
	SharedCores = add(Machine, Table, "shared-cores", "broker and generator share cores and used them up: on cores of its own the broker may carry more",
		"Together more than 90 %")
)

// The kinds of the class too short.
var (
	FewSamples = add(TooShort, Quantile, "few-samples", "the highest quantiles rest on single messages",
		"Fewer than 1,000 latencies: less than one lies above a p99.9; below 100 less than one lies above a p99. Means and rates are not touched")
	IncompleteSearch = add(TooShort, Rate, "incomplete-search", "the search ended before the rate was as precise as asked", "")
	NotSettled       = add(TooShort, Row, "not-settled", "rate or latency still drifted when the longest warm-up was over", "")
	WarmingUp        = add(TooShort, Row, "warming-up", "the broker was still warming up: the figures belong to no steady state",
		"A message cost it at least 1.3 times as much processor time in the first third of the measured phase as in the last. `brokerWarmup` drives it before, and a longer "+
			"`warmup` leaves the beginning out. Of 30 peaks of Kafka 14 had 0.5 to 1.05 times as much, and 16 had 1.5 to 6; of 22 measurements of NATS, JetStream, Redis, "+
			"RabbitMQ and Mosquitto none had more than 1.23. Not where the load changes on purpose, with faults, or of a backlog")
	WarmupUnknown = add(TooShort, Table, "warm-up-unknown", "measured too briefly to tell whether the broker was still warming up",
		"The measured phase was shorter than 4.5 s, and so was `brokerWarmup`, or there was none")
	CoarseRate = add(TooShort, Rate, "coarse-rate", "the rate counts whole batches of the client",
		"The measured phase of a closed loop was too short for two samples of the counters")
	CoarseCPU = add(TooShort, Cost, "coarse-cpu", "it was over too fast for the kernel's accounting of processor time",
		"Within 100 ms. Whether generator, broker or others used up the cores is unknown, too")
	WarmupLatency = add(TooShort, Latency, "warmup-latency", "the latency includes that of the warm-up",
		"The consumer of a pipeline did not say what it had measured when the warm-up ended")
	RestartLatency = add(TooShort, Latency, "restart-latency", "the latency is that since the consumer was restarted",
		"By a fault: a pipeline's consumer keeps latencies in its memory")
	FaultsMissed = add(TooShort, Row, "faults-missed", "a fault that was asked for did not happen",
		"The run was over before it, or doing it failed")
)

// The kinds of the class not everything came.
var (
	RateMissed = add(NotAllCame, List, "rate-missed", "less came through than was offered",
		"Messages that were due were never sent, or more than 2 % (and 100 ms' worth) of the rate offered was not confirmed, or not received, in time. The status says *rate missed*, "+
			"and a sentence above the tables the cores that broker and generator used, how much of the broker's in the kernel, and [what was the limit](explain.md)")
	Late = add(NotAllCame, Counts, "late", "deliveries still came when waiting for them ended: what counts as lost may only be late",
		"They came in the last five seconds of the drain allowance, or in its second half if that is shorter; a longer `drain` shows which. Also if only messages of the "+
			"warm-up were missing, and if a trial broke off")
	Loss    = add(NotAllCame, Counts, "loss", "deliveries never came", "")
	Limited = add(NotAllCame, Counts, "limited", "deliveries never came because of a limit on a queue that the spec asks for",
		"On what it keeps, or for how long")
	FailedSends = add(NotAllCame, Row, "failed-sends", "the client reported sends as failed", "")
	Resent      = add(NotAllCame, Row, "resent", "sends were repeated without a planned fault",
		"The connection was lost, or no answer came")
	Unresolved = add(NotAllCame, Row, "unresolved", "messages were neither confirmed nor failed when the run ended", "")
	Undrained  = add(NotAllCame, Row, "undrained", "messages of the load before were still under way",
		"Of a rate of a curve: deliveries of that load came during this one, or its drain had ended before everything had come or had an outcome")
	Untimed = add(NotAllCame, Latency, "untimed", "some messages have no latency",
		"They were too short to carry their times, and arrived after their entry was reused")
	WarmupFaults = add(NotAllCame, Row, "warmup-faults", "a confirmed message was lost, or a message arrived corrupted, in the warm-up", "")
	Unbalanced   = add(NotAllCame, Row, "unbalanced-books", "an equation of the books does not hold: the counts can't be trusted", "")
	BadRates     = add(NotAllCame, Row, "bad-levels", "some rates of the curve failed or are void; the others count", "")
)

// The kinds of the class clocks.
var (
	ClockBound = add(Clocks, List, "clock-bound", "latencies between hosts are known to ± the offset of their clocks",
		"See [clocks](#clocks-of-several-hosts)")
	OrderUnknown = add(Clocks, List, "order-unknown", "the number of reordered messages is a lower bound",
		"Messages of one stream came to several agents whose clocks are too inexact for their order")
)

// The kinds of the class provenance.
var (
	InProcess = add(Provenance, Table, "in-process", "the broker ran inside the generator's process: its cost can't be told apart", "")
	Unmetered = add(Provenance, Table, "unmetered", "the operating system does not say what other processes use: the broker's cost is unknown",
		"Nor is a machine that is busy with something else noticed (macOS)")
	Network = add(Provenance, Table, "network", "messages passed a slower network that the spec asks for", "Through a proxy (`network`), whose cost counts as the generator's")
	Limits  = add(Provenance, Table, "limits", "processes were held to limits that the spec asks for", "By control groups of the kernel (`limits`)")
	Stamped = add(Provenance, Table, "stamped", "the first bytes of payloads from files were replaced by a message's identity and times",
		"The protocol has no headers for them: 32 bytes, or 8 of a shorter payload")
	Attached = add(Provenance, Table, "attached", "the broker was not started here",
		"What it [says of itself](attaching.md) is in the record; other properties are unknown, and so is its cost if its processes were not found")
	MeterLost = add(Provenance, Table, "meter-lost", "the broker's cost is not known",
		"An agent that metered an attached broker was lost, or a process of the broker ended ([several machines](fleet.md#where-the-broker-is))")
	PlainBetweenNodes = add(Provenance, Table, "plain-between-nodes", "clients use TLS, but the nodes of the cluster don't for the named traffic",
		"Encrypting that would cost more")
	OldVersion   = add(Provenance, Table, "old-version", "its makers no longer support this version, or it has another known problem", "")
	UncleanClose = add(Provenance, Table, "unclean-close", "closing the clients failed, or topics could not be removed",
		"From an attached broker or one that points share")
	NoFigure   = add(Provenance, Table, "no-figure", "some figures are no finite number", "Such as 0/0. The record holds null there")
	Imported   = add(Provenance, Table, "imported", "another tool measured this", "It names the file and its checksum")
	MakersTool = add(Provenance, Table, "makers-tool", "a tool of the broker's maker sent and received: its figures are its own",
		"Rates and latencies, from the actual send, are what it printed; loss, duplicates and order are unknown. Cost is from its start to its end ([generator](attaching.md#the-makers-own-tools))")
	OMBLatency  = add(Provenance, Table, "omb-latency", "latency counts from the actual send", "A stall is charged to the few messages that were sent into it. That of a closed loop is no latency under a load")
	OMBEndToEnd = add(Provenance, Table, "omb-end-to-end", "latency comes from the message's own timestamp", "With most drivers in whole milliseconds, and samples of 0 are dropped")
	OMBNoLedger = add(Provenance, Table, "omb-no-ledger", "loss, duplicates and order are unknown", "Nothing was accounted for message by message")
	OMBRebuilt  = add(Provenance, Table, "omb-rebuilt", "histograms are rebuilt from tables of quantiles", "")
	OMBUnstated = add(Provenance, Table, "omb-unstated", "guarantee, versions, host and, of most files, subscriptions and load are not in the file", "")
)
