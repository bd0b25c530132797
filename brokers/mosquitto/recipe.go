package mosquitto

import (
	"context"
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/debian"
	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/internal/provision"
)

// suites of Debian that the versions come from.
var suites = map[string]string{"2.0.21": "trixie", "2.0.11": "bookworm"}

const program = "usr/sbin/mosquitto"

func recipe() *provision.Recipe {
	needs := []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}}
	return &provision.Recipe{
		Versions: []provision.Version{
			{Name: "2.0.21", Needs: needs},
			{Name: "2.0.11", Needs: needs, Doubt: "Mosquitto 2.0.11 is from 2021; later 2.0 releases mend losses and leaks"},
		},
		Ports: []string{"client"}, MaxNodes: 1, TLS: true, Mutual: true, Login: true,
		Install: install, Configure: configure, Command: command, Ready: ready,
	}
}

func install(ctx context.Context, i *provision.Install) error {
	return debian.Install(ctx, i, suites[i.Version], "version "+i.Version, program, "-h", "mosquitto")
}

func command(n *provision.Node) (provision.Command, error) {
	return debian.Command(n, program, "-c", conf(n))
}

// ready has the server make up a client's name: it begins with a prefix that only this instance has.
func ready(ctx context.Context, n *provision.Node) error {
	name, err := mqtt.Probe(ctx, product, n)
	if err == nil && !strings.HasPrefix(name, n.Cluster.ID) {
		err = fmt.Errorf("port %d is answered by another server, which calls us %q", n.Ports["client"], name)
	}
	return err
}
