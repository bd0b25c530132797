package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	jvmPrefix   = "jvm."
	usualHeap   = "1g"
	askPatience = 3 * time.Second
)

// serverProperties is the node's configuration: its membership in this cluster, defaults for a small cluster, and the settings of
// the spec.
func serverProperties(n *provision.Node, asked map[string]string, known []string) (string, error) {
	nodes := n.Cluster.Nodes
	own := membership(n)
	own["advertised.listeners"], own["inter.broker.listener.name"] = "CLIENT://"+n.Address(), "CLIENT"
	if n.Far != "" {
		own["listeners"] += ",FAR://" + n.At(far)
		own["advertised.listeners"] += ",FAR://" + n.Far
	}
	if err := guard(n, own); err != nil {
		return "", err
	}
	copies := strconv.Itoa(min(3, len(nodes)))
	inSync := strconv.Itoa(min(3, len(nodes))/2 + 1)
	lines := map[string]string{
		"offsets.topic.replication.factor": copies, "transaction.state.log.replication.factor": copies,
		"transaction.state.log.min.isr": inSync,
		// A group of consumers starts at once instead of waiting 3 s for more members, and the first use of groups
		// or transactions doesn't wait for 50 partitions each.
		"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "4", "transaction.state.log.num.partitions": "4",
	}
	if slices.Contains(known, "share.coordinator.state.topic.replication.factor") {
		lines["share.coordinator.state.topic.replication.factor"], lines["share.coordinator.state.topic.min.isr"] = copies, inSync
	}
	if slices.Contains(known, "share.coordinator.state.topic.num.partitions") {
		lines["share.coordinator.state.topic.num.partitions"] = "4"
	}
	for _, name := range []string{
		"group.consumer.min.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms", "group.share.heartbeat.interval.ms",
	} {
		if slices.Contains(known, name) { // at the interval of a classic group's members
			lines[name] = "500"
		}
	}
	for name, value := range asked {
		if err := check(name, own, known); err != nil {
			return "", err
		}
		lines[name] = value
	}
	maps.Copy(lines, own)
	return jvm.Properties(lines), nil
}

// authorizers have settings that the server doesn't know and passes on to them.
var authorizers = []string{"allow.everyone.if.no.acl.found", "super.users"}

// check refuses names that the server doesn't know, or that a user may not set.
func check(name string, own map[string]string, known []string) error {
	_, ours := own[name]
	switch {
	case ours || name == "log.dir" || name == "broker.id" || strings.HasPrefix(name, "controller.quorum."):
		return &provision.ErrSetting{Name: name, Reason: "it is set for each node when the broker is started"}
	case strings.HasPrefix(name, "listener.name."), slices.Contains(known, name), slices.Contains(authorizers, name):
		return nil
	}
	return &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("this version of Kafka has %d settings, and none of that name%s; java options begin with %q, as in jvm.Xmx",
		len(known), similar(name, known), jvmPrefix)}
}

// similar names up to five settings that share the longest dotted prefix with name, as a clause; empty if there are none.
func similar(name string, known []string) string {
	for end := strings.LastIndexByte(name, '.'); end > 0; end = strings.LastIndexByte(name[:end], '.') {
		var near []string
		for _, k := range known {
			if strings.HasPrefix(k, name[:end+1]) {
				near = append(near, k)
			}
		}
		if len(near) > 0 {
			return " (there are " + strings.Join(near[:min(5, len(near))], ", ") + ")"
		}
	}
	return ""
}

var (
	badValue = regexp.MustCompile(`ConfigException: (.* for configuration (\S+?)(?::.*)?)\n`)
	badJVM   = regexp.MustCompile(`(?m)^(Unrecognized .*|Invalid .*|.*heap size.*|Conflicting .*|Error: .*)$`)
)

// blame finds the setting that the server or its JVM complained about.
func blame(out string, settings map[string]any, err error) error {
	if m := badValue.FindStringSubmatch(out + "\n"); m != nil {
		return &provision.ErrSetting{Name: m[2], Reason: "Kafka says: " + m[1]}
	}
	if m := badJVM.FindString(out); m != "" {
		return &provision.ErrSetting{Name: jvmSetting(m, settings), Reason: "java says: " + m}
	}
	return fmt.Errorf("format the log directory: %w", err)
}

// ask asks node n for the cluster's state, within askPatience.
func ask(ctx context.Context, n *provision.Node, question func(context.Context, *kadm.Client) error) error {
	t, err := reach.Node(n)
	if err != nil {
		return err
	}
	opts := []kgo.Opt{kgo.SeedBrokers(t.Addresses...), kgo.DisableClientMetrics()}
	if t.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(t.TLS))
	}
	if m := login(t, ""); m != nil {
		opts = append(opts, kgo.SASL(m))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	return question(ctx, kadm.NewClient(client))
}

// jvmSetting returns the setting that java's error names.
func jvmSetting(complaint string, settings map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		option, ok := strings.CutPrefix(name, jvmPrefix)
		if ok && strings.Contains(complaint, strings.TrimLeft(strings.TrimPrefix(option, "XX:"), "+-")) {
			return name
		}
	}
	return jvmPrefix + "*"
}

// leader is the node that leads most partitions of topics with data or, without such topics, of Kafka's internal ones.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	return provision.Ask(c, func(n *provision.Node) (id int, err error) {
		err = ask(ctx, n, func(ctx context.Context, admin *kadm.Client) error {
			topics, err := admin.ListTopicsWithInternal(ctx)
			if err != nil {
				return err
			}
			id, err = busiest(topics)
			return err
		})
		return id, err
	})
}

func busiest(topics kadm.TopicDetails) (int, error) {
	led := map[int]int{}
	topics.EachPartition(func(p kadm.PartitionDetail) {
		weight := 1000
		if topics[p.Topic].IsInternal {
			weight = 1
		}
		if p.Leader >= 0 {
			led[int(p.Leader)] += weight
		}
	})
	best := 0
	for _, id := range slices.Sorted(maps.Keys(led)) {
		if best == 0 || led[id] > led[best] {
			best = id
		}
	}
	if best == 0 {
		return 0, errors.New("no partition has a leader")
	}
	return best, nil
}
