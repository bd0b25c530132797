package all_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// probes are what a client without a certificate says first in each protocol, and how an answer begins that serves it. What
// only agrees on a protocol's version, or asks for a login, does not.
var probes = []struct{ name, says, served string }{
	{"HTTP", "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", `^HTTP/1\.[01] [23]`},
	{"HTTP, administration of Pulsar", "GET /admin/v2/clusters HTTP/1.0\r\nHost: localhost\r\n\r\n", `^HTTP/1\.[01] 2`},
	{"HTTP, administration of BookKeeper", "GET /api/v1/config/server_config HTTP/1.0\r\nHost: localhost\r\n\r\n", `^HTTP/1\.[01] 2`},
	{"Redis", "PING\r\n", `^\+PONG`},
	{"NATS", "CONNECT {\"verbose\":true}\r\nPING\r\n", `(?s)^INFO .*\r\n\+OK\r\n`},
	{"NATS, as another server", "CONNECT {\"server_id\":\"X\",\"name\":\"x\",\"cluster\":\"{cluster}\",\"lnoc\":true}\r\nPING\r\n", `(?s)PONG`},
	{"MQTT", "\x10\x10\x00\x04MQTT\x04\x02\x00\x3c\x00\x04anon", `^\x20\x02\x00\x00`},
	{"STOMP", "CONNECT\naccept-version:1.2\nhost:localhost\n\n\x00", `^CONNECTED`},
	{"Kafka, the topics", "\x00\x00\x00\x12\x00\x03\x00\x01\x00\x00\x00\x07\x00\x04anon\x00\x00\x00\x00", `(?s)^.{4}\x00\x00\x00\x07`},
	{"Pulsar", "\x00\x00\x00\x12\x00\x00\x00\x0e\x08\x02\x12\x0a\x0a\x04anon\x20\x06\x1a\x00", `(?s)^.{8}\x08\x03`},
	{"Kafka, the cluster of controllers", "\x00\x00\x00\x12\x00\x3c\x00\x01\x00\x00\x00\x07\x00\x04anon\x00\x00\x02\x00", `(?s)^.{4}\x00\x00\x00\x07`},
	{"ZooKeeper", "srvr", `^Zookeeper version`},
	{"ZooKeeper, what it keeps", "\x00\x00\x00\x2d" + strings.Repeat("\x00", 12) + "\x00\x00\x75\x30" + strings.Repeat("\x00", 8) + "\x00\x00\x00\x10" + strings.Repeat("\x00", 17) +
		"\x00\x00\x00\x0e\x00\x00\x00\x01\x00\x00\x00\x08\x00\x00\x00\x01/\x00", `(?s)^\x00\x00\x00.{38}.{4}\x00\x00\x00\x01.{8}\x00\x00\x00\x00`},
	{"BookKeeper", "\x00\x00\x00\x0d\x0a\x06\x08\x03\x10\x08\x18\x01\xca\x06\x02\x08\x03", `(?s)^.{4}\x0a\x06\x08\x03\x10\x08\x18\x01\x10\x00`},
	{"AMQP 1.0", "AMQP\x03\x01\x00\x00\x00\x00\x00\x19\x02\x01\x00\x00\x00SA\xc0\x0c\x01\xa3\x09ANONYMOUS" + session, begun},
	{"AMQP 1.0 without SASL", session, begun},
	{"AMQP 0-9-1", "AMQP\x00\x00\x09\x01\x01\x00\x00\x00\x00\x00\x24\x00\x0a\x00\x0b\x00\x00\x00\x00\x05PLAIN\x00\x00\x00\x0c\x00guest\x00guest\x05en_US\xce", `(?s)\x00\x0a\x00\x1e`},
	{"Erlang's port mapper", "\x00\x01n", `(?s)^.{4}name `},
}

// What an AMQP 1.0 client says once it is let in (open and begin), and the server's own begin.
const (
	session = "AMQP\x00\x01\x00\x00\x00\x00\x00\x14\x02\x00\x00\x00\x00S\x10\xc0\x07\x01\xa1\x04anon" +
		"\x00\x00\x00\x14\x02\x00\x00\x00\x00S\x11\xc0\x07\x04@CRdRd"
	begun = `(?s)AMQP\x00\x01\x00\x00.*\x00(S|\x80\x00{7})\x11`
)

// Under mutual TLS, with a login or without, no listening socket of a broker, client port or not, serves somebody who has no
// certificate.
func TestNoListeningSocketServesAnAnonymousClient(t *testing.T) {
	for _, name := range provision.Names() {
		r, err := provision.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Mutual {
			continue
		}
		for _, nodes := range slices.Compact([]int{1, min(3, r.MaxNodes)}) { // Artemis makes pairs
			for _, login := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, nodes: %d, login: %t", name, nodes, login), func(t *testing.T) {
					if name != "nats" || nodes != 3 || !login {
						testkit.Long(t) // the others are tried in make proof
					}
					o := provision.Options{Broker: name, Nodes: nodes, Mutual: true}
					if login {
						o = livetest.Guarded(o)
					}
					in, _ := livetest.Start(t, o)
					addresses := listening(t, processes(t, in))
					for _, address := range addresses {
						refusesAnonymous(t, address)
					}
					if len(addresses) < nodes {
						t.Errorf("only %d listening sockets were found", len(addresses))
					}
					t.Logf("%d listening sockets were tried", len(addresses))
				})
			}
		}
	}
}

func refusesAnonymous(t *testing.T, address string) {
	var all sync.WaitGroup // a socket that says nothing is waited for
	for _, p := range probes {
		for _, how := range []string{"plain", "TLS"} {
			all.Go(func() {
				if answer := anonymous(address, p.says, how == "TLS"); regexp.MustCompile(p.served).MatchString(answer) && !tellsAnybody(p.name, address) {
					t.Errorf("%s serves a client without a certificate in %s over %s: %.80q", address, p.name, how, answer)
				}
			})
		}
	}
	all.Wait()
}

// tellsAnybody is what serves everybody on this machine, as docs/tls.md says: a NATS server's monitoring port, with counts and
// addresses, and Erlang's port mapper, with names of nodes and their ports.
func tellsAnybody(probe, address string) bool {
	switch probe {
	case "HTTP":
		return strings.Contains(anonymous(address, "GET /varz HTTP/1.0\r\n\r\n", false), `"server_id"`)
	case "Erlang's port mapper":
		return true
	}
	return false
}

var cluster = regexp.MustCompile(`"cluster":"([^"]+)"`)

// anonymous says something without a certificate and returns what is answered; latin1, so that bytes are characters.
func anonymous(address, says string, encrypted bool) string {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
	if encrypted {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // whose certificate it is doesn't matter
	}
	if strings.Contains(says, "{cluster}") { // which the server tells everybody
		about := make([]byte, 4096)
		n, _ := conn.Read(about)
		if m := cluster.FindSubmatch(about[:n]); m != nil {
			says = strings.ReplaceAll(says, "{cluster}", string(m[1]))
		}
	}
	if _, err := conn.Write([]byte(says)); err != nil {
		return ""
	}
	var all []byte
	for b := make([]byte, 4096); len(all) < 1<<16; {
		n, err := conn.Read(b)
		all = append(all, b[:n]...)
		if err != nil {
			break
		}
	}
	text := make([]rune, len(all))
	for i, b := range all {
		text[i] = rune(b)
	}
	return string(text)
}

// listening are the addresses at which the processes listen, as a client of this machine reaches them.
func listening(t *testing.T, pids []int) (addresses []string) {
	t.Helper()
	for _, a := range livetest.Listening(t, pids) {
		addresses = append(addresses, net.JoinHostPort("127.0.0.1", strconv.Itoa(int(a.Port()))))
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// The probes must be able to tell: on a server that asks nothing of its clients the one of its protocol succeeds.
func TestProbesAreServedWhereNothingIsAskedOfClients(t *testing.T) {
	for broker, names := range map[string][]string{
		"nats": {"NATS"}, "redis": {"Redis"}, "mosquitto": {"MQTT"}, "kafka": {"Kafka, the topics", "Kafka, the cluster of controllers"},
		"pulsar": {"Pulsar", "BookKeeper"}, "activemq": {"AMQP 1.0"}, "rabbitmq": {"AMQP 0-9-1", "Erlang's port mapper"},
	} {
		t.Run(broker, func(t *testing.T) {
			testkit.Long(t)
			in, _ := livetest.Start(t, provision.Options{Broker: broker})
			addresses := listening(t, processes(t, in))
			for _, name := range names {
				p := probes[slices.IndexFunc(probes, func(p struct{ name, says, served string }) bool { return p.name == name })]
				if !slices.ContainsFunc(addresses, func(address string) bool {
					return regexp.MustCompile(p.served).MatchString(anonymous(address, p.says, false))
				}) {
					t.Errorf("%s is served on none of %v", p.name, addresses)
				}
			}
		})
	}
}

// processes are those of all nodes.
func processes(t *testing.T, in *provision.Instance) (pids []int) {
	t.Helper()
	for node := range in.Nodes() {
		some, err := in.Processes(node + 1)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, some...)
	}
	return pids
}
