package artemis

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

const tunedFile = "journal-buffer-timeout.txt"

// locks are the SHA-256 of the files that each version is fetched as.
//
//go:embed locks
var locks embed.FS

func recipe() *provision.Recipe {
	return &provision.Recipe{
		Memory:   strings.Join(usualMemory, " "),
		Profiler: jvm.Profiler,
		Versions: []provision.Version{
			{Name: "2.56.0", Needs: jvm.Needs},
			{Name: "2.40.0", Needs: jvm.Needs, Doubt: "Artemis 2.40 is from 2025; its makers mend the newest release only"},
		},
		Ports: []string{"client", "cluster"}, MaxNodes: 2, TLS: true, Mutual: true, Login: true, Plain: "replication",
		Install: install, Configure: configure, Command: command, Ready: ready, Formed: formed, Leader: leader, InSync: inSync,
	}
}

// trial creates an instance and prints its configuration.
const trial = `"$1" create trial --silent --user admin --password admin --allow-anonymous --host 127.0.0.1 --no-web --nio && cat trial/etc/broker.xml`

var timeout = regexp.MustCompile(`<journal-buffer-timeout>(\d+)<`)

// install unpacks the distribution, and has the server measure this machine's disk, as it does whenever an instance is
// created: the result sets how long it gathers writes before a flush.
func install(ctx context.Context, i *provision.Install) error {
	group := "org.apache.artemis"
	if i.Version == "2.40.0" { // it was a part of ActiveMQ up to 2.44
		group = "org.apache.activemq"
	}
	if err := i.Archive(ctx, locks, group+":apache-artemis:"+i.Version+":tar.gz:bin"); err != nil {
		return err
	}
	made, err := i.Run(ctx, provision.Command{Path: "sh", Args: []string{"-c", trial, "sh", filepath.Join(i.Dir, "bin", "artemis")}})
	if err != nil {
		return err
	}
	found := timeout.FindStringSubmatch(made)
	if found == nil {
		return errors.New("the server found no journal-buffer-timeout for this disk")
	}
	return os.WriteFile(filepath.Join(i.Dir, tunedFile), []byte(found[1]), 0o644)
}

func configure(_ context.Context, n *provision.Node) error {
	if n.Cluster.Facts["secret"] == "" {
		n.Cluster.Facts["secret"] = rand.Text()
	}
	asked, _, err := jvm.Split(n.Cluster.Settings)
	if err != nil {
		return err
	}
	xml, err := conf(n, asked)
	if err != nil {
		return err
	}
	if err := roomLeft(n, asked); err != nil {
		return err
	}
	return errors.Join(n.Write("etc/broker.xml", xml), others(n))
}

// usualMemory is the memory setting of the product's own start script.
var usualMemory = []string{"-XX:+UseG1GC", "-XX:+UseStringDeduplication", "-Xms512M", "-Xmx2G"}

// command returns the command of the server's own script, with the options of java in its artemis.profile.
func command(n *provision.Node) (provision.Command, error) {
	home, etc := n.Cluster.Install, filepath.Join(n.Dir, "etc")
	arch := map[string]string{"amd64": "x86_64", "386": "i686"}[runtime.GOARCH]
	usual := append([]string{
		"-XX:AutoBoxCacheMax=20000", "-Dlog4j2.disableJmx=true", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
	}, usualMemory...)
	return jvm.Command(n, usual,
		"-Dlog4j2.configurationFile="+filepath.Join(etc, "log4j2.properties"), "-Djava.security.auth.login.config="+filepath.Join(etc, "login.config"),
		"-Dartemis.home="+home, "-Dartemis.instance="+n.Dir, "-Dartemis.instance.etc="+etc, "-Ddata.dir="+n.Data,
		"-Djava.library.path="+filepath.Join(home, "bin", "lib", "linux-"+arch),
		"-cp", filepath.Join(home, "lib", "artemis-boot.jar"), "org.apache.activemq.artemis.boot.Artemis", "run")
}
