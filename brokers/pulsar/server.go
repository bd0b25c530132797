package pulsar

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

func alone(c *provision.Cluster) bool { return len(c.Nodes) == 1 }

// asked are the server settings in the spec.
type asked struct {
	server map[string]string
	java   []string
}

func split(c *provision.Cluster) (asked, error) {
	server, options, err := jvm.Split(c.Settings)
	return asked{server, options}, err
}

// journalSync is the bookies' setting that makes them flush their journal before they answer.
const journalSync = "journalSyncData"

// completed returns the settings of a server that is started for g.
func completed(g driver.Guarantee, settings map[string]any) (map[string]any, error) {
	given := settings[journalSync]
	switch {
	case g.Persistence != driver.Fsync || given != nil && provision.Text(given) == "true":
		return settings, nil
	case given != nil:
		return nil, driver.Unsupported("persistence: fsync", "it needs %s: true, and the spec says %v", journalSync, given)
	}
	return driver.Completed(settings, map[string]any{journalSync: true}), nil
}

// passed is the prefix of settings that the files don't list: the broker passes them to its bookkeeper client.
const passed = "bookkeeper_"

var named = regexp.MustCompile(`(?m)^(?:# ?)?([A-Za-z][\w.]*)=(.*)$`)

// shipped reads a configuration file of the distribution: the lines that are set, and the names of those that are not.
func shipped(c *provision.Cluster, name string) (set map[string]string, known []string, err error) {
	text, err := os.ReadFile(filepath.Join(c.Install, "conf", name))
	if err != nil {
		return nil, nil, err
	}
	set = map[string]string{}
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		known = append(known, m[1])
		if !strings.HasPrefix(m[0], "#") {
			set[m[1]] = strings.TrimSpace(m[2])
		}
	}
	return set, known, nil
}

// conf is a shipped file with the node's membership in its cluster and the settings of the spec. A single server reads the
// settings of bookies and brokers from one file; otherwise each has its own, and a setting that both know goes to both.
func (a asked) conf(c *provision.Cluster, file string, own map[string]string) (string, error) {
	set, _, err := shipped(c, file)
	if err != nil {
		return "", err
	}
	knows := map[string][]string{}
	var all []string
	for _, name := range []string{"broker.conf", "bookkeeper.conf", "standalone.conf"} {
		_, known, err := shipped(c, name)
		if err != nil {
			return "", err
		}
		knows[name] = known
		all = append(all, known...)
	}
	for name, value := range a.server {
		_, ours := own[name]
		switch {
		case ours && !slices.Contains(changeable, name):
			return "", &provision.ErrSetting{Name: name, Reason: "it is set for each node when the broker is started"}
		case !slices.Contains(all, name) && !strings.HasPrefix(name, passed):
			return "", &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("neither broker.conf nor bookkeeper.conf nor standalone.conf has it; the nearest is %s. Options of java begin with jvm.", suggest.Closest(name, all))}
		case file == "standalone.conf", slices.Contains(knows[file], name), strings.HasPrefix(name, passed) && file == "broker.conf":
			own[name] = value
		}
	}
	const inBytes, inGB = "backlogQuotaDefaultLimitBytes", "backlogQuotaDefaultLimitGB"
	if own[inBytes] != "" && own[inGB] != "" {
		return "", &provision.ErrSetting{Name: inBytes, Reason: "the broker looks at " + inGB + " only where both are given"}
	}
	if own[inBytes] != "" { // the file for a single server has the other
		own[inGB] = "-1"
	}
	maps.Copy(set, own)
	return jvm.Properties(set), nil
}

// changeable are our defaults that a user may override.
var changeable = []string{journalSync, "numIOThreads", "httpServerClass"}

// standalone makes one server of everything, with a bookie of these settings.
func standalone(n *provision.Node, bookie map[string]string) map[string]string {
	own := broker(n)
	maps.Copy(own, bookie)
	// Bookie and broker share the name, and the bookie's admin interface can't parse the broker's "unlimited".
	own["numIOThreads"] = strconv.Itoa(2 * runtime.NumCPU())
	for _, name := range []string{"metadataStoreUrl", "configurationMetadataStoreUrl", "metadataServiceUri", "bookiePort", "journalDirectory", "ledgerDirectories", "zkServers", "extraServerComponents"} {
		delete(own, name) // set on its command line
	}
	return own
}

func broker(n *provision.Node) map[string]string {
	stores := "zk:" + zooKeepers(n.Cluster)
	own := map[string]string{
		"clusterName": n.Cluster.ID, "metadataStoreUrl": stores, "configurationMetadataStoreUrl": stores,
		"bindAddress": "127.0.0.1", "bindAddresses": "", "advertisedAddress": "127.0.0.1",
		"brokerServicePort": strconv.Itoa(n.Ports["client"]), "webServicePort": strconv.Itoa(n.Ports[webPort]),
	}
	return own
}

func bookie(n *provision.Node) map[string]string {
	dir := filepath.Join(n.Data, "bookkeeper")
	return map[string]string{
		"bookiePort": strconv.Itoa(n.Ports[bookiePort]), "advertisedAddress": "127.0.0.1",
		"listeningInterface": "lo", "allowLoopback": "true", "allowEphemeralPorts": "true",
		// BookKeeper's own form of ZooKeeper's address. With Pulsar's ("metadata-store:zk:…") a bookie that restarts within the
		// session of its killed predecessor finds its own name taken, and hangs instead of waiting.
		"zkServers": zooKeepers(n.Cluster), "metadataServiceUri": "",
		"journalDirectory": filepath.Join(dir, "journal"), "ledgerDirectories": filepath.Join(dir, "ledgers"),
		// The distribution has false for the single server and true for bookies; here both have the same.
		journalSync:         "false",
		"httpServerEnabled": "true", "httpServerHost": "127.0.0.1", "httpServerPort": strconv.Itoa(n.Ports[bookieAdmin]),
		"httpServerClass": "org.apache.bookkeeper.http.vertx.VertxHttpServer", "prometheusStatsHttpEnable": "false",
		"extraServerComponents": "",
	}
}

func zooKeepers(c *provision.Cluster) string {
	var all []string
	for _, n := range c.Nodes {
		all = append(all, n.At(zooPort))
	}
	return strings.Join(all, ",")
}

func zooConf(n *provision.Node) string {
	var b strings.Builder
	client := "client"
	if sealed(n.Cluster) {
		client = "secureClient"
		b.WriteString("sslQuorum=true\nserverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n")
	}
	fmt.Fprintf(&b, "tickTime=2000\ninitLimit=10\nsyncLimit=5\nadmin.enableServer=false\ndataDir=%s\n%[2]sPortAddress=127.0.0.1\n%[2]sPort=%[3]d\n",
		filepath.Join(n.Data, "zookeeper"), client, n.Ports[zooPort])
	for _, m := range n.Cluster.Nodes {
		fmt.Fprintf(&b, "server.%d=127.0.0.1:%d:%d\n", m.ID, m.Ports[zooPeerPort], m.Ports[zooVotesPort])
	}
	return b.String()
}

// steps are the processes of a node of a cluster. The first node creates the cluster's metadata, once, which bookies and brokers need.
func steps(n *provision.Node, asked []string) []provision.Step {
	made := filepath.Join(n.Cluster.Nodes[0].Dir, "metadata-made")
	zoo := n.At(zooPort)
	run := func(name string, usual []string, after []string, main ...string) provision.Step {
		return provision.Step{Name: name, Path: "java", Args: append(java(n, usual), main...), After: after}
	}
	all := []provision.Step{run("zookeeper", jvm.Options(n, []string{"-Xmx256m"}, nil), nil,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(n.Dir, "zoo.cfg"))}
	if n.ID == 1 {
		stores := "zk:" + zooKeepers(n.Cluster)
		urls := []string{"--web-service-url", webURL(n), "--broker-service-url", "pulsar://" + n.Address()}
		if n.Cluster.TLS != nil { // it also needs the plain address
			urls = []string{"--web-service-url", "", "--web-service-url-tls", webURL(n), "--broker-service-url-tls", "pulsar+ssl://" + n.Address()}
		}
		setup := run("metadata", jvm.Options(n, []string{"-Xmx256m", "-XX:TieredStopAtLevel=1"}, nil), []string{zoo}, append([]string{
			"org.apache.pulsar.PulsarClusterMetadataSetup",
			"--cluster", n.Cluster.ID, "--metadata-store", stores, "--configuration-metadata-store", stores,
		}, urls...)...)
		setup.Done = made
		all = append(all, setup)
	} else {
		// Bookies that start together for the first time can fail on each other's metadata node (BadVersion for
		// /ledgers/underreplication/LAYOUT), so the first one starts before the others.
		all = append(all, provision.Step{
			Name: "turn", Path: "true", Done: filepath.Join(n.Dir, "turn-taken"), After: []string{made, n.Cluster.Nodes[0].At(bookiePort)},
		})
	}
	memory := jvm.Options(n, []string{"-Xms256m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m"}, asked)
	return append(all,
		run("bookie", memory, []string{zoo, made}, "org.apache.bookkeeper.server.Main", "--conf", filepath.Join(n.Dir, "bookkeeper.conf")),
		run("broker", memory, []string{n.At(bookiePort)}, "org.apache.pulsar.PulsarBrokerStarter", "--broker-conf", filepath.Join(n.Dir, "broker.conf")))
}

// java is the command line up to the main class, with the options of Pulsar's own start script.
func java(n *provision.Node, memory []string) []string {
	args := slices.Clone(memory)
	for _, module := range []string{
		"java.base/java.io", "java.base/java.util.zip", "java.base/java.nio", "java.base/jdk.internal.misc",
		"java.base/jdk.internal.platform", "java.management/sun.management", "jdk.management/com.sun.management.internal",
	} {
		args = append(args, "--add-opens", module+"=ALL-UNNAMED")
	}
	args = append(args, zooKeeperTLS(n)...)
	const drivers = "org.apache.pulsar.metadata.bookkeeper.PulsarMetadata"
	return append(args, "-Djava.net.preferIPv4Stack=true", "-Djute.maxbuffer=10485760", "-Dzookeeper.clientTcpKeepAlive=true",
		"-Dio.netty.tryReflectionSetAccessible=true", "-Dorg.apache.pulsar.shade.io.netty.tryReflectionSetAccessible=true",
		"-Dpulsar.allocator.exit_on_oom=true", "-Dlog4j.shutdownHookEnabled=false", "-Dlog4j2.is.webapp=false",
		"-Dzookeeper.4lw.commands.whitelist=*", "-Dzookeeper.snapshot.trust.empty=true", "-Dzookeeper.tcpKeepAlive=true",
		"-Dbookkeeper.metadata.bookie.drivers="+drivers+"BookieDriver", "-Dbookkeeper.metadata.client.drivers="+drivers+"ClientDriver",
		"-Dlog4j2.configurationFile="+filepath.Join(n.Dir, "log4j2.properties"),
		"-cp", filepath.Join(n.Cluster.Install, "lib", "*"))
}

func endpoints(n *provision.Node) map[string]string {
	return map[string]string{adminRole: webURL(n), bookieRole: bookieURL(n)}
}

func adminOf(nodes ...*provision.Node) *admin {
	t := driver.Target{Endpoints: map[string]string{}}
	for _, n := range nodes {
		t.Endpoints[fmt.Sprintf("%s-%d", adminRole, n.ID)] = webURL(n)
	}
	c := nodes[0].Cluster
	if c.Login != nil {
		t.User, t.Password = c.Login.User, c.Login.Password
	}
	if c.TLS != nil {
		t.TLS, _ = c.TLS.ClientConfig() // nil: a server that requires a certificate refuses the client
	}
	return newAdmin(t, "")
}
