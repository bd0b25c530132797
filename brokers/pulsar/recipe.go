package pulsar

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

// Ports of a node. The binary protocol is on "client".
const (
	webPort      = "web"
	bookiePort   = "bookie"
	bookieAdmin  = "bookie-admin"
	zooPort      = "zookeeper"
	zooPeerPort  = "zookeeper-peer"
	zooVotesPort = "zookeeper-election"
)

func recipe() *provision.Recipe {
	return &provision.Recipe{
		Memory:   strings.Join(usualMemory, " "),
		Profiler: jvm.Profiler,
		Versions: []provision.Version{{Name: "4.0.8", Needs: jvm.Needs}},
		Ports:    []string{"client", webPort, bookiePort, bookieAdmin, zooPort, zooPeerPort, zooVotesPort},
		MaxNodes: 5, TLS: true, Mutual: true, Login: true, Deadline: 5 * time.Minute, // three nodes took 2:36 on a busy machine
		Install: install, Configure: configure, Command: command, Ready: ready, Formed: formed, Leader: leader, Endpoints: endpoints,
	}
}

func install(ctx context.Context, i *provision.Install) error {
	if err := i.Archive(ctx, locks, "org.apache.pulsar:pulsar-server-distribution:"+i.Version+":tar.gz:bin"); err != nil {
		return err
	}
	for _, pattern := range unneeded {
		found, err := filepath.Glob(filepath.Join(i.Dir, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// unneeded are parts of the distribution that no recipe uses: functions, and native code for other systems.
var unneeded = []string{"instances", "examples", "lib/io.kubernetes-*", "lib/*-osx-*", "lib/*-windows-*"}

// configure writes the files of a node: a single server that contains everything or, in a cluster, a ZooKeeper, a bookie and a
// broker.
func configure(_ context.Context, n *provision.Node) error {
	asked, err := split(n.Cluster)
	if err != nil {
		return err
	}
	files := map[string]string{"log4j2.properties": jvm.Log4j2}
	stored := bookie(n)
	if n.Cluster.TLS != nil {
		if err := writeStores(n); err != nil {
			return err
		}
		guardBookie(n, stored)
	}
	own := standalone(n, stored)
	file := "standalone.conf"
	if !alone(n.Cluster) {
		own, file = broker(n), "broker.conf"
		files["zoo.cfg"] = zooConf(n)
		if files["bookkeeper.conf"], err = asked.conf(n.Cluster, "bookkeeper.conf", stored); err != nil {
			return err
		}
	}
	if own, err = secured(n, own); err != nil {
		return err
	}
	if files[file], err = asked.conf(n.Cluster, file, own); err != nil {
		return err
	}
	for name, text := range files {
		if err := n.Write(name, []byte(text)); err != nil {
			return err
		}
	}
	return n.Write("data/zookeeper/myid", []byte(strconv.Itoa(n.ID)))
}

// usualMemory is the memory of a single server in Pulsar's own start script (pulsar_env.sh). The script's garbage collector is
// ZGC, which maps its heap three times under Java 17: the kernel's count of its memory would be three times too high.
var usualMemory = []string{"-Xms2g", "-Xmx2g", "-XX:MaxDirectMemorySize=4g", "-XX:+UseG1GC"}

func command(n *provision.Node) (provision.Command, error) {
	asked, err := split(n.Cluster)
	if err != nil {
		return provision.Command{}, err
	}
	if alone(n.Cluster) {
		args := append(java(n, append(jvm.Profiled(n), jvm.Options(n, usualMemory, asked.java)...)), "-Dpulsar.config.file="+filepath.Join(n.Dir, "standalone.conf"),
			"org.apache.pulsar.PulsarStandaloneStarter", "-nfw", "-nss", "-a", "127.0.0.1", "--num-bookies", "1",
			"--config", filepath.Join(n.Dir, "standalone.conf"), "--metadata-dir", filepath.Join(n.Data, "metadata"),
			"--bookkeeper-dir", filepath.Join(n.Data, "bookkeeper"), "--bookkeeper-port", strconv.Itoa(n.Ports[bookiePort]))
		return provision.Command{Path: "java", Args: args}, nil
	}
	return provision.Together(nil, steps(n, asked.java)...)
}

// ready returns an error unless this node has our cluster's name, has produced to and consumed from a topic of its own, and its
// bookie serves, which that topic may not need.
func ready(ctx context.Context, n *provision.Node) error {
	a := adminOf(n)
	defer a.close()
	if err := a.ask(ctx, http.MethodGet, bookieURL(n)+"/api/v1/bookie/is_ready", nil, nil); err != nil {
		return fmt.Errorf("the bookie: %w", err)
	}
	var clusters []string
	if err := a.do(ctx, http.MethodGet, "clusters", nil, &clusters); err != nil {
		return err
	}
	if !slices.Contains(clusters, n.Cluster.ID) {
		return fmt.Errorf("%s is of cluster %s, not of %s", a.urls[0], strings.Join(clusters, ", "), n.Cluster.ID)
	}
	return a.do(ctx, http.MethodGet, "brokers/health", nil, nil)
}

// formed returns an error until all brokers and all bookies know each other.
func formed(ctx context.Context, c *provision.Cluster) error {
	a := adminOf(c.Nodes...)
	defer a.close()
	var brokers []string
	if err := a.do(ctx, http.MethodGet, "brokers/"+c.ID, nil, &brokers); err != nil {
		return err
	}
	bookies, err := a.liveBookies(ctx)
	if err == nil && (len(brokers) < len(c.Nodes) || bookies < len(c.Nodes)) {
		err = fmt.Errorf("%d brokers and %d bookies of %d have joined", len(brokers), bookies, len(c.Nodes))
	}
	return err
}
