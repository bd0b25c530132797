package rocketmq

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Ports of a node. The proxy's gRPC is on "client".
const (
	brokerPort = "broker"
	namesPort  = "names"
)

func recipe() *provision.Recipe {
	return &provision.Recipe{
		Memory:   strings.Join(usualMemory, " "),
		Profiler: jvm.Profiler,
		Versions: []provision.Version{{Name: "5.5.0", Needs: jvm.Needs}},
		Ports:    []string{"client", brokerPort, namesPort}, MaxNodes: 1,
		Beside:  map[string][]int{brokerPort: {-2}}, // where it serves clients that ask for its "VIP channel"
		Install: install, Configure: configure, Command: command, Ready: ready, Endpoints: endpoints,
	}
}

// usualMemory: the scripts of RocketMQ's distribution ask for 4 GB for a proxy with its broker, on a machine of their own.
var usualMemory = []string{"-Xms1g", "-Xmx1g", "-XX:MaxDirectMemorySize=1g", "-XX:+UseG1GC"}

func command(n *provision.Node) (provision.Command, error) {
	install := n.Cluster.Install
	c, err := jvm.Command(n, usualMemory,
		"--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
		"--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
		"-Duser.home="+n.Dir, "-Drocketmq.client.logRoot="+n.Dir,
		"-Drmq.logback.configurationFile="+filepath.Join(n.Dir, "logback.xml"), "-Dtls.server.mode=disabled",
		"-cp", strings.Join([]string{filepath.Join(install, jvm.Classes), filepath.Join(install, "lib", "*")}, string(filepath.ListSeparator)),
		mainClass, filepath.Join(n.Dir, "namesrv.conf"), filepath.Join(n.Dir, "broker.conf"), filepath.Join(n.Dir, "proxy.json"))
	c.Env = []string{"ROCKETMQ_HOME=" + n.Dir}
	return c, err
}

func endpoints(n *provision.Node) map[string]string {
	return map[string]string{brokerRole: n.At(brokerPort)}
}

// ready waits until the proxy answers and the broker reports the cluster's name, which only this instance has.
func ready(ctx context.Context, n *provision.Node) error {
	target, err := reach.Node(n)
	if err != nil {
		return err
	}
	target.Endpoints = endpoints(n)
	c := driver.Config{Target: target, Client: driver.Values{"brokerAddr": ""}}
	a := newAdmin(c)
	defer a.close()
	said, err := a.settings(ctx)
	if err != nil {
		return err
	}
	if got := said[clusterName]; got != n.Cluster.ID {
		return fmt.Errorf("port %d is answered by a broker of %s, not of %s", n.Ports[brokerPort], got, n.Cluster.ID)
	}
	l, err := dial(c, 0)
	if err != nil {
		return err
	}
	defer l.close()
	return l.answers(ctx)
}
