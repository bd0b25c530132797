package results

// The keys of all metrics. They are the names by which files, thresholds and other programs know a metric, so they never change; they
// end with the unit where there is one.
const (
	// Rates, in messages per second unless the key says otherwise.
	KeyOfferedRate     = "offered_rate"
	KeyPublishRate     = "publish_rate"
	KeyReceiveRate     = "receive_rate"
	KeyThroughput      = "throughput" // of messages that were published and came to every subscription
	KeyPublishMB       = "publish_mb_s"
	KeyReceiveMB       = "receive_mb_s"
	KeyProducerRate    = "producer_rate"      // the publish rate per producer
	KeyConsumerRate    = "consumer_rate"      // the receive rate per consumer
	KeySustainableLow  = "sustainable_low"    // the highest rate that passed
	KeySustainableHigh = "sustainable_high"   // the lowest rate that failed
	KeySustainableHeld = "sustainable_held_s" // how long the former was held in one trial
	KeyKneeRate        = "knee_rate"          // the highest rate of a curve before its latency jumps
	KeyDrainRate       = "drain_rate"         // of a backlog

	KeyTotalSeconds = "total_s" // that a fixed number of messages took

	// Counts of messages.
	KeyLargestBacklog = "backlog_max"
	KeyDue            = "due"
	KeyUnsent         = "unsent" // due, and never handed to the client
	KeySent           = "sent"
	KeyAcked          = "acked"
	KeyFailed         = "failed"
	KeyUnresolved     = "unresolved" // neither acked nor failed
	KeyResent         = "resent"     // attempts after a lost connection
	KeyReceived       = "received"
	KeyExpected       = "expected"
	KeyLost           = "lost"
	KeyLostAcked      = "lost_acked"
	KeyDropped        = "dropped"    // by the client library, in the generator's process
	KeyDuplicated     = "duplicated" // received again
	KeyReordered      = "reordered"
	KeyCorrupted      = "corrupted"

	// Latencies from the intended time of sending.
	KeyEndToEndMin  = "e2e_min_ns"
	KeyEndToEndMean = "e2e_mean_ns"
	KeyEndToEndP50  = "e2e_p50_ns"
	KeyEndToEndP90  = "e2e_p90_ns"
	KeyEndToEndP95  = "e2e_p95_ns"
	KeyEndToEndP99  = "e2e_p99_ns"
	KeyEndToEndP999 = "e2e_p999_ns"
	KeyEndToEndMax  = "e2e_max_ns"
	KeyPublishMin   = "publish_min_ns"
	KeyPublishMean  = "publish_mean_ns"
	KeyPublishP50   = "publish_p50_ns"
	KeyPublishP95   = "publish_p95_ns"
	KeyPublishP99   = "publish_p99_ns"
	KeyPublishMax   = "publish_max_ns"

	// Latencies from the actual send.
	KeyServiceMean         = "service_mean_ns"
	KeyServiceP50          = "service_p50_ns"
	KeyServiceP99          = "service_p99_ns"
	KeyEndToEndServiceMin  = "e2e_service_min_ns"
	KeyEndToEndServiceMean = "e2e_service_mean_ns"
	KeyEndToEndServiceP50  = "e2e_service_p50_ns"
	KeyEndToEndServiceP95  = "e2e_service_p95_ns"
	KeyEndToEndServiceP99  = "e2e_service_p99_ns"
	KeyEndToEndServiceMax  = "e2e_service_max_ns"
	KeyMeanOfSeconds       = "mean_of_seconds_ns" // mean of one-second means
	KeyCorrectedMean       = "corrected_mean_ns"  // corrected for coordinated omission
	KeyCorrectedP99        = "corrected_p99_ns"

	// How late the generator itself was.
	KeyLagP99   = "lag_p99_ns"   // from the intended to the actual send
	KeyPauseP99 = "pause_p99_ns" // how late a thread woke that only sleeps
	KeyPauseMax = "pause_max_ns"

	// What it cost.
	KeyBrokerCPU            = "broker_cpu_s_per_million"
	KeyGeneratorCPU         = "generator_cpu_s_per_million"
	KeyBrokerRSS            = "broker_rss_bytes"
	KeyBrokerDiskWrite      = "broker_disk_write_bytes"
	KeyBrokerDiskRead       = "broker_disk_read_bytes"
	KeyBrokerDiskPerMessage = "broker_disk_bytes_per_message"
	KeyBrokerFlushes        = "broker_flushes_per_message"
	KeyBrokerCPUUser        = "broker_cpu_user_pct"
	KeyBrokerCPUSystem      = "broker_cpu_system_pct"
	KeyProducerCPU          = "producer_cpu_s_per_million"
	KeyProducerCPUUser      = "producer_cpu_user_pct"
	KeyProducerCPUSystem    = "producer_cpu_system_pct"
	KeyProducerRSS          = "producer_rss_bytes"
	KeyConsumerCPU          = "consumer_cpu_s_per_million"
	KeyConsumerCPUUser      = "consumer_cpu_user_pct"
	KeyConsumerCPUSystem    = "consumer_cpu_system_pct"
	KeyConsumerRSS          = "consumer_rss_bytes"
	KeyRelayCPU             = "relay_cpu_s_per_million"
	KeyRelayRSS             = "relay_rss_bytes"

	// Pipelines.
	KeyResponseMin         = "response_min_ns"
	KeyResponseMean        = "response_mean_ns"
	KeyResponseP50         = "response_p50_ns"
	KeyResponseP99         = "response_p99_ns"
	KeyResponseMax         = "response_max_ns"
	KeyQueueMax            = "queue_max"
	KeyServerCPUPerRequest = "server_cpu_us_per_request"
	KeyConsumerCPUMax      = "consumer_cpu_max_pct"
)
