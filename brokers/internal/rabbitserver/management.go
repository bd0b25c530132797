package rabbitserver

import (
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// EnabledPlugins is the setting that has the server start Management, which says what goes through queues; it costs
// something, so that nothing but an experiment that looks at queues asks for it.
const (
	EnabledPlugins = "enabled_plugins"
	Management     = "rabbitmq_management"
)

// ManagementRole is the endpoint: plain HTTP on 127.0.0.1.
const ManagementRole = "management"

const managementPort = "management"

func managed(c *provision.Cluster) bool { return c.Settings[EnabledPlugins] == Management }

func endpoints(n *provision.Node) map[string]string {
	if !managed(n.Cluster) {
		return nil
	}
	return map[string]string{ManagementRole: "http://127.0.0.1:" + strconv.Itoa(n.Ports[managementPort])}
}

// management are its keys. It keeps a sample a second for a minute; without that its counters move every five.
func management(n *provision.Node) map[string]string {
	keys := map[string]string{"management.tcp.ip": "127.0.0.1", "management.tcp.port": strconv.Itoa(n.Ports[managementPort])}
	for _, table := range []string{"global", "basic", "detailed"} {
		keys["management.sample_retention_policies."+table+".minute"] = "1"
	}
	return keys
}

// plugins is the content of the file of plugins that are enabled.
func (p Protocol) plugins(c *provision.Cluster) string {
	var list []string
	if p.Plugin != "" {
		list = append(list, p.Plugin)
	}
	if managed(c) {
		list = append(list, Management)
	}
	return "[" + strings.Join(list, ",") + "].\n"
}
