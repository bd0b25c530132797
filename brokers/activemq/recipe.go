package activemq

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

const schemaFile = "activemq.xsd"

var log4j2 = []string{"org.apache.logging.log4j:log4j-core:2.25.4", "org.apache.logging.log4j:log4j-slf4j2-impl:2.25.4"}

// locks are the SHA-256 of the files that each version is fetched as.
//
//go:embed locks
var locks embed.FS

func recipe() *provision.Recipe {
	return &provision.Recipe{
		Memory:   strings.Join(usualMemory, " "),
		Profiler: jvm.Profiler,
		Versions: []provision.Version{
			{Name: "6.3.1", Needs: jvm.Needs},
			{Name: "5.18.3", Needs: jvm.Needs, Doubt: "ActiveMQ 5.18 is from 2023; 6 has been its successor since"},
			{Name: "5.15.9", Needs: jvm.Needs, Doubt: "ActiveMQ 5.15 is from 2019 and out of support; 6 is its successor"},
		},
		Ports: []string{"client"}, MaxNodes: 1, TLS: true, Mutual: true, Login: true,
		Install: install, Configure: configure, Command: command, Ready: ready,
	}
}

// install fetches the server's jars: the registries have no archive of version 6. activemq.xml is read by Spring, which the
// server's own pom leaves out.
func install(ctx context.Context, i *provision.Install) error {
	jars := libraries(i.Version)
	for _, artifact := range []string{"broker", "kahadb-store", "spring", "console", "amqp", "jaas"} {
		jars = append(jars, "org.apache.activemq:activemq-"+artifact+":"+i.Version)
	}
	if err := i.Maven(ctx, locks, jars...); err != nil {
		return err
	}
	return extractSchema(i)
}

// libraries returns the jars with which the version reads activemq.xml and writes its log.
func libraries(version string) []string {
	switch {
	case version == "5.15.9":
		return []string{"org.springframework:spring-context:4.3.18.RELEASE", "org.slf4j:slf4j-log4j12:1.7.25"}
	case strings.HasPrefix(version, "5."):
		return append(log4j2, "org.springframework:spring-context:5.3.30")
	}
	return append(log4j2, "org.springframework:spring-context:7.0.8", "commons-logging:commons-logging:1.3.5")
}

func configure(_ context.Context, n *provision.Node) error {
	asked, _, err := jvm.Split(n.Cluster.Settings)
	if err != nil {
		return err
	}
	xml, err := conf(n, asked)
	if err != nil {
		return err
	}
	return errors.Join(
		n.Write("activemq.xml", xml),
		n.Write("log4j.properties", []byte(jvm.Log4j1)),
		n.Write("log4j2.properties", []byte(jvm.Log4j2)))
}

// usualMemory is the memory setting of the product's own start script.
var usualMemory = []string{"-Xms64M", "-Xmx1G"}

// command runs the server with the memory and the --add-opens options of its own start script.
func command(n *provision.Node) (provision.Command, error) {
	usual := slices.Clone(usualMemory)
	for _, p := range []string{"java.io", "java.security", "java.net", "java.lang", "java.util", "java.util.concurrent", "java.util.concurrent.atomic"} {
		usual = append(usual, "--add-opens=java.base/"+p+"=ALL-UNNAMED")
	}
	return jvm.Command(n, usual,
		"-Djava.awt.headless=true", "-Dlog4j2.configurationFile="+filepath.Join(n.Dir, "log4j2.properties"),
		"-Dlog4j.configuration=file:"+filepath.Join(n.Dir, "log4j.properties"),
		"-Dactivemq.home="+n.Dir, "-Dactivemq.base="+n.Dir, "-Dactivemq.conf="+n.Dir, "-Dactivemq.data="+n.Data,
		"-cp", filepath.Join(n.Cluster.Install, "lib", "*"), "org.apache.activemq.console.Main", "start", "xbean:file:"+filepath.Join(n.Dir, "activemq.xml"))
}

// ready waits until this process has logged that it is started and something speaks AMQP on its port. Over AMQP the broker
// doesn't say its name.
func ready(ctx context.Context, n *provision.Node) error {
	log, err := n.Log()
	if err != nil {
		return err
	}
	if started := fmt.Sprintf("Apache ActiveMQ %s (%s,", n.Cluster.Version, n.Cluster.ID); !strings.Contains(string(log), started) {
		return fmt.Errorf("its log doesn't say yet that %s… is started", started)
	}
	l, err := amqp10.Probe(ctx, product, n, nil)
	if err != nil {
		return err
	}
	l.Close()
	return nil
}
