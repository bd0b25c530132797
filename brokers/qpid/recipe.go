package qpid

import (
	"context"
	"embed"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

const contextFile = "context.txt"

// locks are the SHA-256 of the files that each version is fetched as.
//
//go:embed locks
var locks embed.FS

func recipe() *provision.Recipe {
	return &provision.Recipe{
		Memory:   strings.Join(usualMemory, " "),
		Profiler: jvm.Profiler,
		Versions: []provision.Version{{Name: "10.1.0", Needs: jvm.Needs}},
		Ports:    []string{"client", "group"}, MaxNodes: 9, TLS: true, Mutual: true, Login: true, Plain: "replication",
		Install: install, Configure: configure, Command: command, Ready: ready, Formed: formed, Leader: leader, InSync: inSync,
	}
}

func install(ctx context.Context, i *provision.Install) error {
	if err := i.Archive(ctx, locks, "org.apache.qpid:apache-qpid-broker-j:"+i.Version+":tar.gz:bin", provision.WithoutChecksum); err != nil {
		return err
	}
	names, err := contextNames(filepath.Join(i.Dir, i.Version, "lib"))
	return errors.Join(err, os.WriteFile(filepath.Join(i.Dir, contextFile), []byte(strings.Join(names, "\n")), 0o644))
}

func configure(_ context.Context, n *provision.Node) error {
	asked, _, err := jvm.Split(n.Cluster.Settings)
	if err != nil {
		return err
	}
	text, err := conf(n, asked)
	if err != nil {
		return err
	}
	return n.Write("initial.json", text)
}

// usualMemory is the memory setting of the product's own start script.
var usualMemory = []string{"-Xmx512m", "-XX:MaxDirectMemorySize=1536m", "-XX:+UseG1GC"}

// command has the memory and the collector of the server's own start script. On later starts the configuration that the
// server saved on the first one takes precedence.
func command(n *provision.Node) (provision.Command, error) {
	home := filepath.Join(n.Cluster.Install, n.Cluster.Version)
	c, err := jvm.Command(n, usualMemory,
		"-DQPID_HOME="+home, "-DQPID_WORK="+n.Data,
		"-cp", filepath.Join(home, "lib", "*"), "org.apache.qpid.server.Main", "-icp", filepath.Join(n.Dir, "initial.json"))
	first := n.Cluster.Nodes[0]
	if _, absent := os.Stat(filepath.Join(n.Data, "config.json")); err != nil || absent == nil || n.ID == first.ID {
		return c, err
	}
	// A new member asks the first one for the group's members, and gives up if that doesn't answer.
	return provision.Together(nil, provision.Step{Name: "qpid", Path: c.Path, Args: c.Args, After: []string{first.At("group")}})
}

// ready asks for the virtual host by its name, which only this cluster has: any other broker refuses. In a group only the
// master has it; ready looks for the role that the other nodes have logged.
func ready(ctx context.Context, n *provision.Node) error {
	if len(n.Cluster.Nodes) > 1 {
		_, err := role(n)
		return err
	}
	return serves(ctx, n)
}

func serves(ctx context.Context, n *provision.Node) error {
	l, err := amqp10.Probe(ctx, product, n, map[string]any{vhostSetting: n.Cluster.ID})
	if err != nil {
		return err
	}
	l.Close()
	return nil
}
