package all_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// near are values for settings that need no trust and come nearest to sockets: of NATS all of them, of others buffers, connections and
// plugins.
var near = map[string]map[string]any{
	"nats": {
		"max_payload": "2MB", "max_pending": "64MB", "max_connections": 1000, "max_control_line": "8KB", "max_subscriptions": 1000, "max_sub_tokens": 16, "max_closed_clients": 100,
		"write_deadline": "5s", "ping_interval": "20s", "ping_max": 3, "debug": true, "lame_duck_duration": "40s", "lame_duck_grace_period": "5s", "disable_sublist_cache": true,
		"no_header_support": false, "no_fast_producer_stall": true, "connect_error_reports": 10, "reconnect_error_reports": 1, "cluster.pool_size": 3, "cluster.compression": "off",
	},
	"jetstream": {
		"jetstream.sync_interval": "1m", "jetstream.max_memory_store": "64MB", "jetstream.max_file_store": "1GB", "jetstream.max_outstanding_catchup": "32MB", "jetstream.max_buffered_size": "32MB",
		"jetstream.max_buffered_msgs": 10_000, "jetstream.request_queue_limit": 10_000, "cluster.pool_size": 3,
	},
	"nats-streaming":  {"max_payload": 2 << 20, "streaming.file.sync": true, "streaming.hb_interval": "30s"},
	"redis":           {"tcp-backlog": 128, "tcp-keepalive": 60, "timeout": 0, "maxclients": 500, "io-threads": 2, "repl-diskless-sync": "yes", "client-output-buffer-limit": "normal 0 0 0"},
	"redis-cluster":   {"cluster-node-timeout": 5000, "tcp-backlog": 128, "cluster-link-sendbuf-limit": 0},
	"mosquitto":       {"max_connections": 500, "set_tcp_nodelay": false, "max_topic_alias": 5, "persistence": true, "allow_anonymous": true, "max_qos": 2},
	"hivemq":          {"restrictions.max-connections": 500, "restrictions.no-connect-idle-timeout": 5000},
	"kafka":           {"max.connections": 500, "socket.send.buffer.bytes": 102_400, "num.network.threads": 2, "connections.max.idle.ms": 600_000, "request.timeout.ms": 20_000},
	"rabbitmq":        {"enabled_plugins": "rabbitmq_management", "tcp_listen_options.backlog": 64, "tcp_listen_options.nodelay": true, "num_acceptors.tcp": 4, "connection_max": 500, "net_ticktime": 30},
	"rabbitmq-mqtt":   {"mqtt.tcp_listen_options.backlog": 64, "mqtt.prefetch": 10, "mqtt.num_acceptors.tcp": 4},
	"rabbitmq-stream": {"stream.tcp_listen_options.backlog": 64, "stream.heartbeat": 30, "stream.num_acceptors.tcp": 4},
	"rabbitmq-amqp10": {"session_max_per_connection": 32, "enabled_plugins": "rabbitmq_management"},
	"activemq":        {"amqp.maximumConnections": 500, "amqp.transport.tcpNoDelay": true, "amqp.wireFormat.idleTimeout": 30_000, "advisorySupport": false, "enableStatistics": false},
	"artemis":         {"acceptor.connectionsAllowed": 500, "acceptor.remotingThreads": 4, "acceptor.useEpoll": true, "acceptor.tcpNoDelay": true, "jmx-notification-enabled": true},
	"qpid":            {"port.maxOpenConnections": 500, "port.tcpNoDelay": true, "context.qpid.port.amqp.acceptBacklog": 64, "context.qpid.port.max_open_connections": 500},
	"pulsar":          {"keepAliveIntervalSeconds": 30, "numHttpServerThreads": 8, "loadBalancerEnabled": false, "exposeTopicLevelMetricsInPrometheus": true, "numAcceptorThreads": 1, "topicLevelPoliciesEnabled": true},
	"rocketmq":        {"serverSocketBacklog": 64, "serverSelectorThreads": 2, "useEpollNativeSelector": true, "proxy.grpcBossLoopNum": 1, "proxy.enableGrpcEpoll": true},
	"redis-pubsub":    {"tcp-backlog": 128},
}

// open are settings that open or move a socket, or could. Trusted or not, a recipe refuses them, or the broker stays where it was.
var open = map[string]map[string]any{
	"nats":            {"websocket.port": 18080, "leafnodes.port": 17422, "mqtt.port": 11883, "gateway.port": 17222, "prof_port": 16060, "host": "0.0.0.0", "LISTEN": "0.0.0.0:14222", "monitor_port": 18222, "cluster.port": 16222},
	"jetstream":       {"ws.port": 18080, "net": "0.0.0.0", "JetStream.Store_Dir": "/tmp/x"},
	"nats-streaming":  {"http": "0.0.0.0:18222", "cluster.port": 16222, "streaming.listen": "0.0.0.0"},
	"redis":           {"bind": "0.0.0.0", "port": 16379, "tls-port": 16380, "unixsocket": "/tmp/x", "BIND": "0.0.0.0", "protected-mode": "no"},
	"redis-cluster":   {"cluster-port": 16379, "cluster-announce-ip": "0.0.0.0"},
	"mosquitto":       {"listener": "11883 0.0.0.0", "port": 11883, "bind_address": "0.0.0.0"},
	"kafka":           {"listeners": "CLIENT://:19092", "advertised.listeners": "CLIENT://h:1", "controller.quorum.voters": "1@h:1"},
	"rabbitmq":        {"listeners.tcp.2": "0.0.0.0:15673", "tcp_listen_options.port": 15673, "distribution.listener.interface": "0.0.0.0", "management.tcp.port": 15672, "management.tcp.ip": "0.0.0.0"},
	"rabbitmq-mqtt":   {"mqtt.listeners.tcp.2": "0.0.0.0:11883", "mqtt.tcp_listen_options.port": 11883, "listeners.tcp.1": "0.0.0.0:15672"},
	"rabbitmq-stream": {"stream.listeners.tcp.2": "0.0.0.0:15552", "stream.tcp_listen_options.port": 15552},
	"activemq":        {"useJmx": true, "vmConnectorURI": "tcp://0.0.0.0:11111", "networkConnectorURIs": "static:(tcp://0.0.0.0:1)", "transportConnectorURIs": "tcp://0.0.0.0:16161"},
	"artemis":         {"jmx-management-enabled": true, "acceptors": "tcp://0.0.0.0:16161", "acceptor.host": "0.0.0.0"},
	"qpid":            {"port.bindingAddress": "0.0.0.0", "port.port": 15672, "context.qpid.http_port": 18080},
	"hivemq":          {"listeners.tcp-listener.port": 11883},
	"pulsar":          {"bindAddress": "0.0.0.0", "bindAddresses": "x:pulsar://0.0.0.0:16650", "webServicePort": 18080, "listeningInterface": "eth0", "prometheusStatsHttpPort": 18000, "webSocketServiceEnabled": true, "allowLoopback": false},
	"rocketmq":        {"bindAddress": "0.0.0.0", "haListenPort": 10912, "metricsExporterType": "PROM", "metricsPromExporterHost": "0.0.0.0", "proxy.metricsPromExporterHost": "0.0.0.0", "proxy.enableRemotingLocalProxyGrpc": true, "proxy.localServeAddr": "0.0.0.0"},
}

func onLoopback(t *testing.T, in *provision.Instance) {
	t.Helper()
	addresses := livetest.Listening(t, processes(t, in))
	for _, a := range addresses {
		if !a.Addr().IsLoopback() {
			t.Errorf("it listens at %s", a)
		}
	}
	if len(addresses) == 0 {
		t.Error("no listening socket was found")
	}
}

// builtIn reports whether starting the broker costs little: make test tries it, make proof the others.
func builtIn(name string) bool { return name == "nats" || name == "jetstream" }

func TestABrokerListensOnLoopbackOnlyWhateverADocumentMaySet(t *testing.T) {
	for _, name := range provision.Names() {
		t.Run(name, func(t *testing.T) {
			if !builtIn(name) {
				testkit.Long(t)
			}
			p, err := catalog.Lookup(name)
			livetest.Must(t, err)
			asked := map[string]bool{}
			for _, setting := range p.Defaults.Tuning {
				_, asked[setting] = near[name][setting]
			}
			if len(near[name]) == 0 || name == "nats" && len(near[name]) < len(p.Defaults.Tuning) {
				t.Errorf("%d settings are tried", len(near[name]))
			}
			for setting := range near[name] {
				if !asked[setting] {
					t.Errorf("%s needs trust", setting)
				}
			}
			o := provision.Options{Broker: name, Server: near[name]}
			if name == "redis-cluster" {
				o.Nodes = 3
			}
			in, _ := livetest.Start(t, o)
			onLoopback(t, in)
		})
	}
}

func TestASettingThatOpensASocketIsRefusedOrOpensItOnLoopback(t *testing.T) {
	for name, settings := range open {
		for setting, value := range settings {
			t.Run(fmt.Sprintf("%s, %s", name, setting), func(t *testing.T) {
				testkit.Live(t)
				if !builtIn(name) {
					testkit.Long(t)
				}
				host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
				livetest.Must(t, err)
				o := provision.Options{Broker: name, Server: map[string]any{setting: value}}
				if name == "redis-cluster" {
					o.Nodes = 3
				}
				in, err := host.Start(t.Context(), o)
				var refused *provision.ErrSetting
				if errors.As(err, &refused) && refused.Name == setting {
					return
				}
				livetest.Must(t, err)
				defer func() { livetest.Must(t, in.Stop(context.Background())) }()
				onLoopback(t, in)
			})
		}
	}
}
