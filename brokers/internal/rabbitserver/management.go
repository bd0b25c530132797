package rabbitserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// EnabledPlugins is the setting that has the server start plugins, separated by commas. Management reports what goes
// through queues; it costs something, so only experiments that look at queues ask for it. The others are ways to log in.
const (
	EnabledPlugins = "enabled_plugins"
	Management     = "rabbitmq_management"
	Certificates   = "rabbitmq_auth_mechanism_ssl"
	OAuth          = "rabbitmq_auth_backend_oauth2"
)

var allowedPlugins = []string{Management, Certificates, OAuth}

// asked returns the plugins that the settings ask for, or an error for one that isn't allowed.
func asked(c *provision.Cluster) (list []string, err error) {
	value, given := c.Settings[EnabledPlugins]
	if !given {
		return nil, nil
	}
	for name := range strings.SplitSeq(fmt.Sprint(value), ",") {
		if name = strings.TrimSpace(name); !slices.Contains(allowedPlugins, name) {
			return nil, &provision.ErrSetting{Name: EnabledPlugins, Reason: fmt.Sprintf("%s; allowed: %s", name, strings.Join(allowedPlugins, ", "))}
		}
		list = append(list, name)
	}
	return list, nil
}

// ManagementRole is the endpoint: plain HTTP on 127.0.0.1.
const ManagementRole = "management"

const managementPort = "management"

func managed(c *provision.Cluster) bool {
	plugins, _ := asked(c) // configured before, so that all are allowed
	return slices.Contains(plugins, Management)
}

func endpoints(n *provision.Node) map[string]string {
	if !managed(n.Cluster) {
		return nil
	}
	return map[string]string{ManagementRole: "http://" + n.At(managementPort)}
}

// management returns the plugin's keys. It keeps a sample a second for a minute; otherwise its counters change every five seconds.
func management(n *provision.Node) map[string]string {
	keys := map[string]string{"management.tcp.ip": "127.0.0.1", "management.tcp.port": strconv.Itoa(n.Ports[managementPort])}
	for _, table := range []string{"global", "basic", "detailed"} {
		keys["management.sample_retention_policies."+table+".minute"] = "1"
	}
	return keys
}

// plugins returns the content of the file of enabled plugins.
func (p Protocol) plugins(c *provision.Cluster) string {
	var list []string
	if p.Plugin != "" {
		list = append(list, p.Plugin)
	}
	more, _ := asked(c) // conf has refused what isn't allowed
	list = append(list, more...)
	return "[" + strings.Join(list, ",") + "].\n"
}
