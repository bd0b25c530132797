package kafka

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	clusterID  = "cluster.id" // a fact: only our own instance has it
	knownNames = "settings.txt"
	controller = "controller"
	far        = "far" // a second client port, which advertises the address of a proxy before it
	// zooKeepersOwn is the traffic without TLS before Kafka 3.
	zooKeepersOwn = "what brokers keep in ZooKeeper; messages are encrypted"
	brokerNames   = `id="brokerconfigs_([^"]+)"`
)

// locks are the SHA-256 of the files of each version.
//
//go:embed locks
var locks embed.FS

func recipe() *provision.Recipe {
	needs := []provision.Need{{Command: "java", Apt: []string{"default-jre-headless"}}, {Command: "mvn", Apt: []string{"maven"}}}
	ensemble := []string{quorum, election}
	return &provision.Recipe{
		Memory:   strings.Join(usualMemory, " "),
		Profiler: jvm.Profiler,
		Versions: []provision.Version{
			{Name: "4.3.1", Needs: needs},
			{Name: "3.9.2", Needs: needs, Doubt: "Kafka 3.9 is from 2024; its makers mend the last three releases, which are newer"},
			{Name: "3.9.1", Needs: needs, Doubt: "Kafka 3.9 is from 2024; its makers mend the last three releases, which are newer"},
			{Name: "3.7.0", Needs: needs, Doubt: "Kafka 3.7 is from 2024; its makers mend the last three releases, which are newer"},
			{Name: "2.2.0", Needs: needs, Ports: ensemble, Plain: zooKeepersOwn, Doubt: "Kafka 2.2 is from 2019, with ZooKeeper and out of support"},
			{Name: "1.1.1", Needs: needs, Ports: ensemble, Plain: zooKeepersOwn, Doubt: "Kafka 1.1 is from 2018, with ZooKeeper and out of support"},
		},
		Ports: []string{"client", controller}, MaxNodes: 9, TLS: true, Mutual: true, Login: true, Far: far,
		Install: install, Configure: configure, Command: command, Ready: ready, Formed: formed, Leader: leader, InSync: inSync,
	}
}

// install fetches the server with its tools, and reads the names of its settings from it.
func install(ctx context.Context, i *provision.Install) error {
	jars := []string{"org.apache.kafka:kafka_2.13:" + i.Version, "org.apache.kafka:kafka-tools:" + i.Version}
	if !strings.HasPrefix(i.Version, "3.") {
		jars = append(jars, "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4") // Kafka 4's own pom leaves it out
	}
	if onZooKeeper(i.Version) {
		jars = oldJars(i.Version)
	}
	if err := i.Maven(ctx, locks, jars...); err != nil {
		return err
	}
	page, err := i.Run(ctx, provision.Command{Path: "java", Args: []string{"-cp", filepath.Join(i.Dir, "lib", "*"), "kafka.server.KafkaConfig"}})
	if err != nil {
		return err
	}
	names := knownSettings(i.Version, []byte(page))
	if len(names) == 0 {
		return fmt.Errorf("kafka %s printed no names of settings", i.Version)
	}
	return os.WriteFile(filepath.Join(i.Dir, knownNames), []byte(strings.Join(names, "\n")+"\n"), 0o644)
}

// configure writes the node's files and has the server check the values while it formats its log directory.
func configure(ctx context.Context, n *provision.Node) error {
	known, err := os.ReadFile(filepath.Join(n.Cluster.Install, knownNames))
	if err != nil {
		return err
	}
	asked, options, err := jvm.Split(n.Cluster.Settings)
	if err != nil {
		return err
	}
	properties, err := serverProperties(n, asked, strings.Fields(string(known)))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"server.properties": properties, "log4j2.properties": jvm.Log4j2, "log4j.properties": jvm.Log4j1} {
		if err := n.Write(name, []byte(text)); err != nil {
			return err
		}
	}
	if onZooKeeper(n.Cluster.Version) {
		return configureZooKeeper(ctx, n, options)
	}
	return format(ctx, n, options)
}

// format formats the log directory for the cluster.
func format(ctx context.Context, n *provision.Node, options []string) error {
	if n.Cluster.Facts[clusterID] == "" {
		var id [16]byte
		_, _ = rand.Read(id[:]) // never fails
		id[0] &= 0x7f           // a leading - of base64 would look like an option
		n.Cluster.Facts[clusterID] = base64.RawURLEncoding.EncodeToString(id[:])
	}
	args := append(java(n, options), "-XX:TieredStopAtLevel=1", "kafka.tools.StorageTool", "format", "--cluster-id="+n.Cluster.Facts[clusterID], "-c", "server.properties") // an ID may begin with a dash
	if out, err := n.Run(ctx, provision.Command{Path: "java", Args: args}); err != nil {
		return blame(out, n.Cluster.Settings, err)
	}
	return nil
}

// usualMemory is the memory and garbage collector of Kafka's own start script.
var usualMemory = []string{
	"-Xmx" + usualHeap, "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
}

func command(n *provision.Node) (provision.Command, error) {
	_, options, err := jvm.Split(n.Cluster.Settings)
	if onZooKeeper(n.Cluster.Version) {
		return launchCommand(n, options), err
	}
	return provision.Command{Path: "java", Args: slices.Concat(jvm.Profiled(n), java(n, options), []string{"kafka.Kafka", "server.properties"})}, err
}

// java is the command line up to the main class. Memory and garbage collector are those of Kafka's own start script; the heap has
// a fixed size.
func java(n *provision.Node, asked []string) []string {
	args := jvm.Options(n, usualMemory, asked)
	for _, option := range args {
		if size, ok := strings.CutPrefix(option, "-Xmx"); ok && !slices.ContainsFunc(asked, func(o string) bool { return strings.HasPrefix(o, "-Xms") }) {
			args = append(args, "-Xms"+size)
		}
	}
	return append(args, "-Djava.awt.headless=true", "-Dlog4j2.configurationFile="+filepath.Join(n.Dir, "log4j2.properties"),
		"-Dlog4j.configuration=file:"+filepath.Join(n.Dir, "log4j.properties"), "-cp", filepath.Join(n.Cluster.Install, "lib", "*"))
}
