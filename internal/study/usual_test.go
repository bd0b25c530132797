package study

import "github.com/brokermark/brokermark/internal/usual"

// Brokers as their drivers describe them, which tests here don't link; brokers/defaults_test.go looks at the real ones.
func init() {
	usual.Register("nats", usual.Defaults{First: true, NoCopy: true, Persistence: usual.Memory, Sharing: usual.AnyNumber})
	usual.Register("kafka", usual.Defaults{Sharing: usual.AnyNumber, Tuning: []string{"num.io.threads", "log.flush.interval.messages", "compression.type"}})
	usual.Register("redis", usual.Defaults{Persistence: usual.MemoryAtMostOnce, Sharing: 64})
	usual.Register("redis-pubsub", usual.Defaults{NoCopy: true, Persistence: usual.Memory})
	usual.Register("sim", usual.Defaults{Persistence: usual.Memory})
	usual.Register("mosquitto", usual.Defaults{Persistence: usual.Memory})
	for _, broker := range []string{"rabbitmq", "jetstream", "artemis", "activemq", "qpid"} {
		usual.Register(broker, usual.Defaults{Persistence: usual.MemoryAtMostOnce})
	}
}
