package results

// Keys of metrics that code names. A key is the name of a metric in files, thresholds and other programs, so it never changes; it
// ends with the unit if there is one. The table of metrics describes each; a metric that no code names has its key only there.
const (
	// Rates.
	KeyOfferedRate     = "offered_rate"
	KeyPublishRate     = "publish_rate"
	KeyReceiveRate     = "receive_rate"
	KeyThroughput      = "throughput"
	KeySustainableLow  = "sustainable_low"
	KeySustainableHigh = "sustainable_high"
	KeySustainableHeld = "sustainable_held_s"
	KeyKneeRate        = "knee_rate"
	KeyDrainRate       = "drain_rate"

	KeyTotalSeconds = "total_s"

	// Counts of messages.
	KeyDue        = "due"
	KeyUnsent     = "unsent"
	KeySent       = "sent"
	KeyAcked      = "acked"
	KeyFailed     = "failed"
	KeyUnresolved = "unresolved"
	KeyResent     = "resent"
	KeyReceived   = "received"
	KeyExpected   = "expected"
	KeyLost       = "lost"
	KeyLostAcked  = "lost_acked"
	KeyDropped    = "dropped"
	KeyDuplicated = "duplicated"
	KeyReordered  = "reordered"
	KeyCorrupted  = "corrupted"

	// Latencies from the intended time of sending.
	KeyEndToEndMin  = "e2e_min_ns"
	KeyEndToEndMean = "e2e_mean_ns"
	KeyEndToEndP50  = "e2e_p50_ns"
	KeyEndToEndP90  = "e2e_p90_ns"
	KeyEndToEndP95  = "e2e_p95_ns"
	KeyEndToEndP99  = "e2e_p99_ns"
	KeyEndToEndMax  = "e2e_max_ns"
	KeyFillingP99   = "e2e_filling_p99_ns"
	KeyLaggingP99   = "e2e_lagging_p99_ns"
	KeyPublishMean  = "publish_mean_ns"
	KeyPublishP50   = "publish_p50_ns"
	KeyPublishP99   = "publish_p99_ns"

	// Latencies from the actual send.
	KeyServiceP50          = "service_p50_ns"
	KeyServiceP99          = "service_p99_ns"
	KeyEndToEndServiceMean = "e2e_service_mean_ns"
	KeyEndToEndServiceP50  = "e2e_service_p50_ns"
	KeyEndToEndServiceP99  = "e2e_service_p99_ns"
	KeyMeanOfSeconds       = "mean_of_seconds_ns"
	KeyCorrectedMean       = "corrected_mean_ns"
	KeyCorrectedP99        = "corrected_p99_ns"

	// Delays of the generator itself.
	KeyPauseP99 = "pause_p99_ns"
	KeyPauseMax = "pause_max_ns"

	// Costs.
	KeyBrokerCPU            = "broker_cpu_s_per_million"
	KeyGeneratorCPU         = "generator_cpu_s_per_million"
	KeyBrokerRSS            = "broker_rss_bytes"
	KeyBrokerDiskWrite      = "broker_disk_write_bytes"
	KeyBrokerDiskPerMessage = "broker_disk_bytes_per_message"
	KeyBrokerFlushes        = "broker_flushes_per_message"
	KeyBrokerCPUUser        = "broker_cpu_user_pct"
	KeyBrokerCPUSystem      = "broker_cpu_system_pct"
	KeyProducerCPUUser      = "producer_cpu_user_pct"
	KeyProducerCPUSystem    = "producer_cpu_system_pct"
	KeyConsumerCPUUser      = "consumer_cpu_user_pct"
	KeyConsumerCPUSystem    = "consumer_cpu_system_pct"
	KeyRelayCPU             = "relay_cpu_s_per_million"
	KeyRelayRSS             = "relay_rss_bytes"

	// Pipelines.
	KeyResponseP50         = "response_p50_ns"
	KeyResponseP99         = "response_p99_ns"
	KeyResponseMax         = "response_max_ns"
	KeyQueueMax            = "queue_max"
	KeyQueueMemory         = "queue_memory_bytes"
	KeyConsumerCapacity    = "consumer_capacity_pct"
	KeyServerCPUPerRequest = "server_cpu_us_per_request"
	KeyConsumerCPUMax      = "consumer_cpu_max_pct"
)
