package kafka

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

// Kafka before 3 keeps its metadata in ZooKeeper. Every node runs one beside its broker, in the same process tree: both are
// metered, killed and restarted together, as a KRaft node is broker and controller in one process.
const (
	// zooKeeperVersion is the one of Kafka 1.1.1. Kafka 2.2.0 brings 3.4.13, which resolves no address on Java 14 and later
	// (ZOOKEEPER-3779).
	zooKeeperVersion = "3.4.10"
	zooKeeperFile    = "zookeeper.properties"
	// quorum and election are the ports on which the nodes of a ZooKeeper ensemble talk; clients (brokers) use the port that a
	// KRaft node has for its controller.
	quorum   = "quorum"
	election = "election"
)

var (
	// oldNames matches the names of settings in the page that Kafka prints before 3.
	oldNames  = regexp.MustCompile(`<tr>\s*<td>([^<]+)</td>`)
	clusterIn = regexp.MustCompile(`Cluster ID = (\S+)`)
)

// onZooKeeper reports whether that version has no KRaft mode.
func onZooKeeper(version string) bool {
	return strings.HasPrefix(version, "1.") || strings.HasPrefix(version, "2.")
}

func oldJars(version string) []string {
	return []string{
		"org.apache.kafka:kafka_2.12:" + version, "org.apache.zookeeper:zookeeper:" + zooKeeperVersion, "org.slf4j:slf4j-log4j12:1.7.25",
	}
}

// membership are the settings that make the node part of its cluster.
func membership(n *provision.Node) map[string]string {
	if !onZooKeeper(n.Cluster.Version) {
		var voters []string
		for _, v := range n.Cluster.Nodes {
			voters = append(voters, fmt.Sprintf("%d@%s", v.ID, v.At(controller)))
		}
		return map[string]string{
			"process.roles": "broker,controller", "node.id": strconv.Itoa(n.ID), "log.dirs": n.Data,
			"controller.quorum.voters": strings.Join(voters, ","), "controller.listener.names": "CONTROLLER",
			"listeners": fmt.Sprintf("CLIENT://%s,CONTROLLER://%s", n.Address(), n.At(controller)),
		}
	}
	var ensemble []string
	for _, m := range n.Cluster.Nodes {
		ensemble = append(ensemble, m.At(controller))
	}
	return map[string]string{
		"broker.id": strconv.Itoa(n.ID), "log.dirs": filepath.Join(n.Data, "kafka"), "listeners": "CLIENT://" + n.Address(),
		"zookeeper.connect": strings.Join(ensemble, ","),
	}
}

// configureZooKeeper writes the node's ZooKeeper configuration, and has the server check its own, which it does before it
// connects to ZooKeeper.
func configureZooKeeper(ctx context.Context, n *provision.Node, options []string) error {
	data := filepath.Join(n.Data, "zookeeper")
	text := fmt.Sprintf("dataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\ninitLimit=10\nsyncLimit=5\n", data, n.Ports[controller])
	if len(n.Cluster.Nodes) > 1 {
		for _, m := range n.Cluster.Nodes {
			text += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", m.ID, m.Ports[quorum], m.Ports[election])
		}
	}
	if err := errors.Join(n.Write("data/zookeeper/myid", []byte(strconv.Itoa(n.ID))), n.Write(zooKeeperFile, []byte(text))); err != nil {
		return err
	}
	nowhere := []string{"--override", "zookeeper.connect=127.0.0.1:1", "--override", "zookeeper.connection.timeout.ms=1"}
	args := append(append(java(n, options), "-XX:TieredStopAtLevel=1", "kafka.Kafka", "server.properties"), nowhere...)
	out, err := n.Run(ctx, provision.Command{Path: "java", Args: args})
	if err == nil || strings.Contains(out, "ZooKeeperClientTimeoutException") {
		return nil
	}
	return blame(out, n.Cluster.Settings, err)
}

// launchCommand runs the launcher, with the command lines of ZooKeeper and of Kafka.
func launchCommand(n *provision.Node, options []string) provision.Command {
	// The heap is that of Kafka's own start script for ZooKeeper. Without preAllocSize a transaction log grows by 64 MiB at a time.
	keeper := append(jvm.Options(n, []string{"-Xmx512M", "-Dzookeeper.preAllocSize=1024"}, nil),
		"-Djava.awt.headless=true", "-Dlog4j.configuration=file:"+filepath.Join(n.Dir, "log4j.properties"),
		"-cp", filepath.Join(n.Cluster.Install, "lib", "*"), "org.apache.zookeeper.server.quorum.QuorumPeerMain", zooKeeperFile)
	args := slices.Concat([]string{strconv.Itoa(n.ID), n.At(controller)}, keeper, []string{then}, java(n, options), []string{"kafka.Kafka", "server.properties"})
	return provision.Command{Program: launcher, Args: args}
}

// cluster is the ID of this node's cluster. We make the ID of a KRaft cluster; on ZooKeeper the first broker makes one, and each
// writes it into its log.
func cluster(n *provision.Node) (string, error) {
	if !onZooKeeper(n.Cluster.Version) {
		return n.Cluster.Facts[clusterID], nil
	}
	log, err := n.Log()
	if err != nil {
		return "", err
	}
	all := clusterIn.FindAllSubmatch(log, -1)
	if len(all) == 0 {
		return "", errors.New("its log doesn't name the cluster yet")
	}
	return string(all[len(all)-1][1]), nil
}

// knownSettings are the names in the page about its settings that the server prints.
func knownSettings(version string, page []byte) []string {
	names := regexp.MustCompile(brokerNames)
	if onZooKeeper(version) {
		names = oldNames
	}
	var list []string
	for _, m := range names.FindAllSubmatch(page, -1) {
		list = append(list, string(m[1]))
	}
	return slices.Compact(list)
}
