package all_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// asksTheBroker are the functions that may refuse something without driver.Kind.Fits having refused it before, and why
// it couldn't: they have been answered by a broker, or by the client library about one.
var asksTheBroker = map[string]string{
	"activemq.Declare":      "a topic's name is the caller's, no setting",
	"artemis.Declare":       "whether a backup is in step",
	"amqp10.connect":        "the largest message that the broker named when the sender was attached",
	"jetstream.create":      "whether the server is one of a cluster",
	"jetstream.syncsAlways": "how the servers write",
	"kafka.awaitBrokers":    "how many brokers an attached cluster has",
	"kafka.begin":           "whether an attached broker, whose version nobody gave, has share groups",
	"kafka.create":          "the values of topic configurations, which are the broker's own",
	"kafka.flushesCommits":  "how often an attached broker flushes its own topics; of one that is started, completed asks",
	"kafka.producer":        "fits has asked the library about the same options",
	"kafka.Consume":         "fits has asked the library about the same options",
	"kafka.relay":           "fits has asked the library about the same options",
	"mqtt.subscribe":        "the quality of service that the server grants",
	"nats-streaming.kept":   "what the server stores in",
	"pulsar.Encrypt":        "how the library keeps what it sends",
	"pulsar.connectWith":    "the library about addresses and certificates",
	"pulsar.coordinates":    "whether the broker has transactions",
	"pulsar.Setup":          "the values of topic policies, which are the broker's own",
	"pulsar.checkStorage":   "how many bookies there are",
	"pulsar.explain":        "an address that nothing was found at",
	"pulsar.syncsJournals":  "how the bookies write",
	"rabbitmq.refusal":      "arguments that the server refuses",
	"redis.persist":         "how an attached server writes",
	"redis.copies":          "how many replicas are connected",
}

// node is a function of a driver, or a variable: what it names, and whether it refuses something.
type node struct {
	names   map[string]bool
	refuses bool
}

// graph has the functions and variables of the folders by name; several of one name are one.
func graph(t *testing.T, folders ...string) (nodes map[string]*node, roots []string) {
	t.Helper()
	nodes = map[string]*node{}
	add := func(name string, body ast.Node) {
		n := nodes[name]
		if n == nil {
			n = &node{names: map[string]bool{}}
			nodes[name] = n
		}
		ast.Inspect(body, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.Ident:
				n.names[x.Name] = true
			case *ast.CallExpr:
				f, ok := x.Fun.(*ast.SelectorExpr)
				n.refuses = n.refuses || ok && f.Sel.Name == "Unsupported"
			case *ast.KeyValueExpr: // Fits: fits
				key, ok := x.Key.(*ast.Ident)
				if ok && slices.Contains([]string{"Supports", "Share", "Fits", "Server", "Keyless"}, key.Name) {
					ast.Inspect(x.Value, func(y ast.Node) bool {
						if id, ok := y.(*ast.Ident); ok {
							roots = append(roots, id.Name)
						}
						return true
					})
				}
			}
			return true
		})
	}
	for _, folder := range folders {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Body != nil {
						add(d.Name.Name, d.Body)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if v, ok := s.(*ast.ValueSpec); ok {
							for _, name := range v.Names {
								add(name.Name, v)
							}
						}
					}
				}
			}
		}
	}
	return nodes, roots
}

// reached are the names that the roots lead to.
func reached(nodes map[string]*node, roots []string) map[string]bool {
	seen := map[string]bool{}
	for len(roots) > 0 {
		name := roots[0]
		roots = roots[1:]
		if n := nodes[name]; n != nil && !seen[name] {
			seen[name] = true
			for other := range n.names {
				roots = append(roots, other)
			}
		}
	}
	return seen
}

// What a driver can refuse without asking a broker it refuses before one is started: whatever refuses is called by what
// check asks, too.
func TestWhateverRefusesIsAskedBeforeABrokerIsStarted(t *testing.T) {
	used := map[string]bool{}
	for _, name := range append(driver.Names(), "amqp10", "mqtt") {
		own, err := filepath.Glob(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "amqp10" || name == "mqtt" {
			own = []string{"internal/" + name}
		}
		if len(own) == 0 {
			continue // redis-pubsub, in the folder of redis
		}
		if strings.Contains(name, "nats") || name == "jetstream" {
			own = append(own, "internal/natsio")
		}
		nodes, roots := graph(t, own...)
		asked := reached(nodes, roots)
		for function, n := range nodes {
			allowed := name + "." + function
			used[allowed] = used[allowed] || n.refuses && !asked[function]
			if n.refuses && !asked[function] && asksTheBroker[allowed] == "" {
				t.Errorf("%s refuses something, and nothing that check asks leads there", allowed)
			}
		}
		if len(roots) == 0 {
			t.Errorf("%s: nothing is asked", name)
		}
	}
	for allowed := range asksTheBroker {
		if !used[allowed] {
			t.Errorf("%s refuses nothing, or is asked before: strike it off the list", allowed)
		}
	}
}

// changed gives some settings another value: the bounds, the words there are, and values on both sides of them.
func changed(kind driver.Kind, rnd *rand.Rand) (client, topic driver.Values) {
	client, _ = driver.Decode(kind.Settings, driver.ClientScope, nil)
	topic, _ = driver.Decode(kind.Settings, driver.TopicScope, nil)
	for range 1 + rnd.IntN(3) {
		s := kind.Settings[rnd.IntN(len(kind.Settings))]
		values := client
		if s.Scope == driver.TopicScope {
			values = topic
		}
		switch def := s.Default.(type) {
		case int64:
			list := []any{def + 1, int64(0), int64(1), int64(5), int64(1 << 17), int64(1 << 31)}
			values[s.Name] = list[rnd.IntN(len(list))]
		case bool:
			values[s.Name] = !def
		case time.Duration:
			list := []any{time.Duration(0), time.Nanosecond, 1500 * time.Millisecond, time.Hour, 2 * def}
			values[s.Name] = list[rnd.IntN(len(list))]
		case string:
			if len(s.Allowed) > 0 {
				values[s.Name] = s.Allowed[rnd.IntN(len(s.Allowed))]
			} else if s.Scope == driver.TopicScope {
				values[s.Name] = fmt.Sprint(rnd.IntN(3))
			}
		}
	}
	return client, topic
}

// Open refuses nothing that check has let pass. Whether Setup, a producer and a consumer do, the conformance suite of each
// driver asks on a running broker.
func TestWhatFitsIsNotRefusedByOpen(t *testing.T) {
	for _, name := range driver.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, err := driver.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(12, 22))
			matrix := kind.Matrix()
			fit, refused := 0, 0
			for range 2000 {
				c := driver.Config{Guarantee: matrix[rnd.IntN(len(matrix))].Guarantee}
				c.Client, c.Topic = changed(kind, rnd)
				c.Target = driver.Target{Addresses: []string{"127.0.0.1:1"}}
				if kind.Supports(c.Guarantee) != nil {
					continue
				}
				s := driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, MaxBytes: 8, InFlight: 1}
				before := kind.Refusal(c, s)
				if before != nil {
					refused++
				} else {
					fit++
				}
				if refused > 200 && before != nil || fit > 25 && before == nil {
					continue // a dead address takes its time
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				d, err := kind.Open(ctx, c)
				var refusal *driver.ErrUnsupported
				if err == nil {
					_ = d.Close()
				}
				if before == nil && errors.As(err, &refusal) {
					t.Errorf("%+v, client %v, topic %v: accepted, and then: %v", c.Guarantee, c.Client, c.Topic, err)
				}
			}
			if fit == 0 {
				t.Error("nothing fits")
			}
		})
	}
}
