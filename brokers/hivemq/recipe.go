package hivemq

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/internal/provision"
)

// locks are the SHA-256 of the files that each version is fetched as.
//
//go:embed locks
var locks embed.FS

// launcher starts the server inside our own program: by itself the server rejects every client unless an extension
// authorizes it, and the distribution with such an extension is in no registry.
//
//go:embed Launcher.java
var launcher embed.FS

func recipe() *provision.Recipe {
	return &provision.Recipe{
		Memory:   strings.Join(usualMemory, " "),
		Profiler: jvm.Profiler,
		Versions: []provision.Version{{Name: "2025.5", Needs: jvm.Needs}}, Complete: jvm.Classes,
		Ports: []string{"client"}, MaxNodes: 1, TLS: true, Mutual: true, Login: true,
		Install: install, Configure: configure, Command: command, Ready: ready,
	}
}

func install(ctx context.Context, i *provision.Install) error {
	if err := i.Maven(ctx, locks, "com.hivemq:hivemq-community-edition-embedded:"+i.Version, jvm.Compiler); err != nil {
		return err
	}
	return jvm.Compile(ctx, i, launcher)
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
	login := ""
	if l := n.Cluster.Login; l != nil {
		login = l.User + "\n" + l.Password
	}
	return errors.Join(n.MakeDir("conf"), n.Write("conf/config.xml", text), n.Write("login", []byte(login)))
}

// usualMemory is the memory setting of the product's own start script.
var usualMemory = []string{"-XX:InitialRAMPercentage=30", "-XX:MaxRAMPercentage=40", "-XX:MinRAMPercentage=30"}

// command adds the options of the server's own start script.
func command(n *provision.Node) (provision.Command, error) {
	c, err := jvm.Command(n, usualMemory,
		"-Djava.net.preferIPv4Stack=true", "-Dhivemq.home="+n.Dir,
		"--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
		"--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED", "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
		"-cp", filepath.Join(n.Cluster.Install, jvm.Classes)+string(filepath.ListSeparator)+filepath.Join(n.Cluster.Install, "lib", "*"), "Launcher",
		filepath.Join(n.Dir, "conf"), n.Data, filepath.Join(n.Dir, "login"))
	c.Dir = n.Dir
	return c, err
}

// ready finds the port in the server's log, since MQTT shows a client nothing that only this instance has; only one process
// can listen on the port.
func ready(ctx context.Context, n *provision.Node) error {
	log, err := n.Log()
	if err != nil {
		return err
	}
	if port := n.Ports["client"]; !strings.Contains(string(log), fmt.Sprintf("on address 127.0.0.1 and on port %d.", port)) {
		return fmt.Errorf("the server has not said that it listens on port %d", port)
	}
	_, err = mqtt.Probe(ctx, product, n)
	return err
}
