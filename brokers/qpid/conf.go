package qpid

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

type object = map[string]any

// Server settings are attributes of the virtual host and of the AMQP port, and context variables.
const (
	hostPrefix    = "virtualhost."
	portPrefix    = "port."
	contextPrefix = "context."
)

var (
	hostAttributes = []string{
		"type", "connectionThreadPoolSize", "flowToDiskCheckPeriod", "housekeepingCheckPeriod", "housekeepingThreadCount", "localTransactionSynchronizationPolicy",
		"numberOfSelectors", "remoteTransactionSynchronizationPolicy", "statisticsReportingPeriod", "storeOverfullSize", "storeTransactionIdleTimeoutClose",
		"storeTransactionIdleTimeoutWarn", "storeTransactionOpenTimeoutClose", "storeTransactionOpenTimeoutWarn", "storeUnderfullSize",
	}
	portAttributes = []string{"maxOpenConnections", "needClientAuth", "numberOfSelectors", "tcpNoDelay", "threadPoolSize", "wantClientAuth"}
	policies       = []string{"SYNC", "WRITE_NO_SYNC", "NO_SYNC"}
)

// placed are the settings asked for, by the object that has them.
type placed struct{ host, port, context object }

type scope struct {
	known []string
	into  object
}

// place sorts the settings by object and refuses those that no object has.
func place(n *provision.Node, asked map[string]string) (placed, error) {
	p := placed{object{}, object{}, object{}}
	known, err := os.ReadFile(filepath.Join(n.Cluster.Install, contextFile))
	if err != nil {
		return p, err
	}
	scopes := map[string]scope{
		hostPrefix: {hostAttributes, p.host}, portPrefix: {portAttributes, p.port}, contextPrefix: {strings.Fields(string(known)), p.context},
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		group, key, _ := strings.Cut(name, ".")
		s, ok := scopes[group+"."]
		switch {
		case !ok:
			return p, &provision.ErrSetting{Name: name, Reason: "settings begin with virtualhost., port., context. or jvm."}
		case !slices.Contains(s.known, key):
			return p, &provision.ErrSetting{Name: name, Reason: "there is no such setting; the nearest is " + group + "." + suggest.Closest(key, s.known)}
		}
		s.into[key] = asked[name]
	}
	return p, check(n, asked)
}

// check refuses values that the server would misread, or only complain about in its log.
func check(n *provision.Node, asked map[string]string) error {
	kinds := []string{"BDB", "DERBY", "Memory"}
	if len(n.Cluster.Nodes) > 1 {
		kinds = []string{"BDB_HA"}
	}
	for name, allowed := range map[string][]string{hostPrefix + "type": kinds, remotePolicy: policies, localPolicy: policies} {
		value, ok := asked[name]
		switch {
		case ok && !slices.Contains(allowed, value):
			return &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not one of %s", value, strings.Join(allowed, ", "))}
		case ok && len(n.Cluster.Nodes) == 1 && name != hostPrefix+"type":
			return &provision.ErrSetting{Name: name, Reason: "only a group of several nodes has it"}
		}
	}
	return nil
}

// conf returns the broker's initial configuration.
func conf(n *provision.Node, asked map[string]string) ([]byte, error) {
	p, err := place(n, asked)
	if err != nil {
		return nil, err
	}
	maps.Copy(p.port, object{
		"name": "AMQP", "type": "AMQP", "port": strconv.Itoa(n.Ports["client"]), "bindingAddress": "127.0.0.1",
		"authenticationProvider": "users", "protocols": []string{"AMQP_1_0"}, "transports": []string{"TCP"},
		"virtualhostaliases": []object{{"name": "name", "type": "nameAlias"}, {"name": "default", "type": "defaultAlias"}, {"name": "hostname", "type": "hostnameAlias"}},
	})
	rules := []object{
		{"name": "root", "type": "NameAndLevel", "level": "WARN", "loggerName": "ROOT"},
		{"name": "qpid", "type": "NameAndLevel", "level": "INFO", "loggerName": "org.apache.qpid.*"},
		{"name": "operational", "type": "NameAndLevel", "level": "INFO", "loggerName": "qpid.message.broker.*"},
		{"name": "group", "type": "NameAndLevel", "level": "INFO", "loggerName": "qpid.message.highavailability.*"},
	}
	all := object{
		"name": n.Name(), "modelVersion": "9.1", "context": p.context,
		"authenticationproviders": []object{users(n.Cluster.Login)},
		"brokerloggers":           []object{{"name": "out", "type": "Console", "brokerloginclusionrules": rules}},
		"ports":                   []object{p.port}, "virtualhostnodes": []object{hostNode(n, p.host)},
	}
	if n.Cluster.TLS != nil {
		stores, err := jvm.NewKeyStores(n)
		if err != nil {
			return nil, err
		}
		all["keystores"] = []object{{"name": "keys", "type": "FileKeyStore", "storeUrl": stores.Keys, "password": stores.Password, "keyStoreType": "pkcs12"}}
		all["truststores"] = []object{{"name": "trust", "type": "FileTrustStore", "storeUrl": stores.Trust, "password": stores.Password, "trustStoreType": "pkcs12"}}
		maps.Copy(p.port, object{"transports": []string{"SSL"}, "keyStore": "keys", "trustStores": []string{"trust"}})
		if n.Cluster.TLS.Mutual {
			p.port["needClientAuth"] = "true"
		}
	}
	return json.MarshalIndent(all, "", "  ")
}

// users returns the users who may log in: any, or a single one. The broker accepts a plain password only over TLS.
func users(l *provision.Login) object {
	if l == nil {
		return object{"name": "users", "type": "Anonymous"}
	}
	return object{
		"name": "users", "type": "Plain", "secureOnlyMechanisms": []string{},
		"users": []object{{"name": l.User, "type": "managed", "password": l.Password}},
	}
}

// hostNode returns the node that keeps the virtual host: alone with a store of its own, or as a member of a group.
func hostNode(n *provision.Node, host object) object {
	node := object{"name": n.Cluster.ID, "type": "JSON", "defaultVirtualHostNode": "true"}
	usual := object{"type": "BDB"}
	if nodes := n.Cluster.Nodes; len(nodes) > 1 {
		var addresses []string
		for _, m := range nodes {
			addresses = append(addresses, m.At("group"))
		}
		maps.Copy(node, object{
			"name": n.Name(), "type": "BDB_HA", "groupName": n.Cluster.ID, "address": n.At("group"),
			"helperAddress": addresses[0], "helperNodeName": nodes[0].Name(), "permittedNodes": addresses,
		})
		usual = object{"type": "BDB_HA", "localTransactionSynchronizationPolicy": "SYNC", "remoteTransactionSynchronizationPolicy": "SYNC"}
	}
	maps.Copy(usual, host)
	text, _ := json.Marshal(usual) // of strings
	node["virtualHostInitialConfiguration"] = string(text)
	return node
}
