package artemis

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

// Where a server setting goes: by prefix into the acceptor's address or the settings of all addresses, else into the
// core of broker.xml.
const (
	acceptorPrefix = "acceptor."
	addressPrefix  = "address-setting."
)

//go:embed broker.xml
var brokerXML string

var brokerTemplate = template.Must(template.New("broker.xml").Parse(brokerXML))

// acceptorKeys are the parameters of an acceptor that concern AMQP; broker.xml's schema doesn't list them.
var acceptorKeys = []string{
	"amqpCredits", "amqpLowCredits", "amqpDuplicateDetection", "amqpIdleTimeout", "amqpMinLargeMessageSize", "amqpTreatRejectAsUnmodifiedDeliveryFailed",
	"batchDelay", "connectionsAllowed", "connectionTtl", "directDeliver", "enabledCipherSuites", "enabledProtocols", "maxFrameSize", "needClientAuth", "nioRemotingThreads",
	"remotingThreads", "sslProvider", "supportAdvisory", "tcpNoDelay", "tcpReceiveBufferSize", "tcpSendBufferSize", "useEpoll", "wantClientAuth",
}

// ours are the elements that the recipe sets itself.
var ours = []string{"name", "bindings-directory", "journal-directory", "paging-directory", "large-messages-directory", "node-manager-lock-directory", "cluster-user", "cluster-password"}

// customary returns the settings that the server's own `artemis create` writes, beside the schema's defaults.
func customary(tuned string) (core, acceptor, address map[string]string) {
	core = map[string]string{
		"persistence-enabled": "true", "max-redelivery-records": "1", "journal-type": "NIO", "journal-datasync": "true", "journal-min-files": "2",
		"journal-pool-files": "10", "journal-device-block-size": "4096", "journal-file-size": "10M", "journal-buffer-timeout": tuned,
		"disk-scan-period": "5000", diskUsage: usualDiskUsage, "critical-analyzer": "true", "critical-analyzer-timeout": "120000",
		"critical-analyzer-check-period": "60000", "critical-analyzer-policy": "HALT", "global-max-messages": "-1",
	}
	acceptor = map[string]string{
		"tcpSendBufferSize": "1048576", "tcpReceiveBufferSize": "1048576", "amqpMinLargeMessageSize": "102400", "useEpoll": "true",
		"amqpCredits": "1000", "amqpLowCredits": "300", "amqpDuplicateDetection": "true", "supportAdvisory": "false",
	}
	address = map[string]string{
		"dead-letter-address": "DLQ", "expiry-address": "ExpiryQueue", "redelivery-delay": "0", "message-counter-history-day-limit": "10",
		"address-full-policy": "PAGE", "auto-delete-queues": "false", "auto-delete-addresses": "false", "page-size-bytes": "10M",
		"max-size-bytes": "-1", "max-size-messages": "-1", "max-read-page-messages": "-1", "max-read-page-bytes": "20M",
		"page-limit-bytes": "-1", "page-limit-messages": "-1",
		// A message that comes again and again, through every kill of a long test, must not end as a dead letter.
		"max-delivery-attempts": "-1",
	}
	return core, acceptor, address
}

// conf returns the node's broker.xml: the settings of this instance, the usual ones, and those asked for, checked by name.
func conf(n *provision.Node, asked map[string]string) ([]byte, error) {
	install := n.Cluster.Install
	text, err := os.ReadFile(filepath.Join(install, "schema", "artemis-configuration.xsd"))
	if err != nil {
		return nil, err
	}
	schemas, err := jvm.Schemas(text)
	if err != nil {
		return nil, err
	}
	tuned, err := os.ReadFile(filepath.Join(install, tunedFile))
	if err != nil {
		return nil, err
	}
	core, acceptor, address := customary(strings.TrimSpace(string(tuned)))
	for name, value := range asked {
		if err := place(schemas, name, value, core, acceptor, address); err != nil {
			return nil, err
		}
	}
	if t := n.Cluster.TLS; t != nil {
		stores, err := jvm.NewKeyStores(n)
		if err != nil {
			return nil, err
		}
		maps.Copy(acceptor, map[string]string{
			"sslEnabled": "true", "keyStorePath": stores.Keys, "keyStoreType": "PKCS12", "keyStorePassword": stores.Password,
			"trustStorePath": stores.Trust, "trustStoreType": "PKCS12", "trustStorePassword": stores.Password,
		})
		if t.Mutual {
			acceptor["needClientAuth"] = "true"
		}
	}
	var out bytes.Buffer
	err = brokerTemplate.Execute(&out, map[string]any{
		"Name": n.Name(), "Data": n.Data, "Core": core, "Address": address, "Nodes": n.Cluster.Nodes, "Self": n.ID,
		"Acceptor": fmt.Sprintf("tcp://127.0.0.1:%d?%s", n.Ports["client"], query(acceptor)), "Secret": n.Cluster.Facts["secret"],
	})
	return out.Bytes(), err
}

// place puts a setting where it belongs, or refuses it.
func place(schemas map[string]jvm.Schema, name, value string, core, acceptor, address map[string]string) error {
	if strings.ContainsAny(value, "<>&;\"'#{}") {
		return &provision.ErrSetting{Name: name, Reason: "its value must not hold any of < > & ; # { } and quotes: the server would read more in it than a text"}
	}
	if key, ok := strings.CutPrefix(name, acceptorPrefix); ok {
		if !slices.Contains(acceptorKeys, key) {
			return &provision.ErrSetting{Name: name, Reason: "an acceptor has no such parameter for AMQP; the nearest is " + acceptorPrefix + suggest.Closest(key, acceptorKeys)}
		}
		acceptor[key] = value
		return nil
	}
	if key, ok := strings.CutPrefix(name, addressPrefix); ok {
		address[key] = value
		return schemas["addressSettingType"].Check(addressPrefix, key, value)
	}
	if slices.Contains(ours, name) {
		return &provision.ErrSetting{Name: name, Reason: "it is set for each node when the broker is started"}
	}
	core[name] = value
	return schemas["configurationType"].Check("", name, value)
}

func query(parameters map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		fmt.Fprintf(&b, "%s=%s;", name, parameters[name])
	}
	return b.String() + "protocols=AMQP,CORE"
}

// stored returns how safe a durable message is when the broker, with these server settings, accepts it.
func stored(settings map[string]any) driver.Persistence {
	on := func(name string) bool { return settings[name] == nil || provision.Text(settings[name]) == "true" }
	switch {
	case !on("persistence-enabled"), !on("journal-sync-non-transactional"):
		return driver.Memory // without the latter it is accepted before it is written
	case !on("journal-datasync"):
		return driver.Log
	}
	return driver.Fsync
}

// noAudit keeps the server from writing a line for every message and every connection.
const noAudit = `logger.audit.name = org.apache.activemq.audit
logger.audit.level = OFF
`

// Users that may log in: those of a file, and clients without a name.
const (
	usersModule = `   org.apache.activemq.artemis.spi.core.security.jaas.PropertiesLoginModule sufficient
       org.apache.activemq.jaas.properties.user="artemis-users.properties"
       org.apache.activemq.jaas.properties.role="artemis-roles.properties";
`
	guestModule = `   org.apache.activemq.artemis.spi.core.security.jaas.GuestLoginModule sufficient
       credentialsInvalidate=true
       org.apache.activemq.jaas.guest.user="guest"
       org.apache.activemq.jaas.guest.role="amq";
`
)

// others writes the files beside broker.xml that the server reads.
func others(n *provision.Node) error {
	etc := filepath.Join(n.Dir, "etc")
	login, modules := n.Cluster.Login, usersModule
	if login == nil {
		login, modules = &provision.Login{User: "admin", Password: "admin"}, usersModule+guestModule
	}
	var errs []error
	for name, text := range map[string]string{
		"bootstrap.xml": fmt.Sprintf(`<broker xmlns="http://activemq.apache.org/schema">
   <jaas-security domain="activemq"/>
   <server configuration="file:%s/broker.xml"/>
</broker>
`, etc),
		"login.config":             "activemq {\n" + modules + "};\n",
		"management.xml":           `<management-context xmlns="http://activemq.apache.org/schema"/>` + "\n",
		"artemis-users.properties": login.User + " = " + login.Password + "\n",
		"artemis-roles.properties": "amq = " + login.User + "\n",
		"log4j2.properties":        jvm.Log4j2 + noAudit,
	} {
		errs = append(errs, n.Write("etc/"+name, []byte(text)))
	}
	return errors.Join(errs...)
}
