// Package all is the one list of brokers: importing it registers every driver and recipe there is.
package all

import (
	_ "github.com/brokermark/brokermark/brokers/activemq"
	_ "github.com/brokermark/brokermark/brokers/artemis"
	_ "github.com/brokermark/brokermark/brokers/hivemq"
	_ "github.com/brokermark/brokermark/brokers/jetstream"
	_ "github.com/brokermark/brokermark/brokers/kafka"
	_ "github.com/brokermark/brokermark/brokers/mosquitto"
	_ "github.com/brokermark/brokermark/brokers/nats"
	_ "github.com/brokermark/brokermark/brokers/nats-streaming"
	_ "github.com/brokermark/brokermark/brokers/pulsar"
	_ "github.com/brokermark/brokermark/brokers/qpid"
	_ "github.com/brokermark/brokermark/brokers/rabbitmq"
	_ "github.com/brokermark/brokermark/brokers/rabbitmq-amqp10"
	_ "github.com/brokermark/brokermark/brokers/rabbitmq-mqtt"
	_ "github.com/brokermark/brokermark/brokers/rabbitmq-stream"
	_ "github.com/brokermark/brokermark/brokers/redis"
	_ "github.com/brokermark/brokermark/brokers/rocketmq"
	_ "github.com/brokermark/brokermark/brokers/sim"
)
