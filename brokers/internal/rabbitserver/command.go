package rabbitserver

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/brokermark/brokermark/internal/provision"
)

func nodeName(n *provision.Node) string { return n.Name() + "@localhost" }

// command returns one of RabbitMQ's own scripts, in the unpacked tree that the server lives in.
func command(n *provision.Node, script string, args ...string) (provision.Command, error) {
	c := provision.Command{Path: script, Args: args, Dir: n.Dir, Env: []string{
		"HOME=" + n.Dir, "LC_ALL=C.UTF-8", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		"RABBITMQ_CONF_ENV_FILE=/dev/null", // not the machine's own
		"RABBITMQ_NODENAME=" + nodeName(n),
		"RABBITMQ_CONFIG_FILE=" + filepath.Join(n.Dir, "rabbitmq"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(n.Dir, "enabled_plugins"),
		"RABBITMQ_MNESIA_BASE=" + n.Data, "RABBITMQ_LOG_BASE=" + n.Dir, "RABBITMQ_LOGS=-",
		"RABBITMQ_PID_FILE=" + pidFile(n),
		"RABBITMQ_DIST_PORT=" + strconv.Itoa(n.Ports["dist"]),
		// One epmd per cluster, on a port of its own: the machine's epmd would outlive us and list nodes of others.
		"ERL_EPMD_PORT=" + strconv.Itoa(n.Cluster.Nodes[0].Ports["epmd"]), "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
	}}
	return provision.Enclosed(n, c, "/usr/lib/rabbitmq/lib/rabbitmq_server-"+n.Cluster.Version+"/sbin/"+script)
}

func control(ctx context.Context, n *provision.Node, args ...string) (string, error) {
	c, err := command(n, "rabbitmqctl", append([]string{"-q"}, args...)...)
	if err != nil {
		return "", err
	}
	return n.Run(ctx, c)
}

const pidName = "rabbit.pid"

func pidFile(n *provision.Node) string { return filepath.Join(n.Dir, pidName) }

// stop names the Erlang machine itself: the enclosure around it does not pass signals on.
func stop(n *provision.Node) (pid int, s syscall.Signal, err error) {
	b, err := n.Read(pidName, 64)
	if err != nil {
		return 0, 0, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
	return pid, syscall.SIGTERM, err
}
