package activemq

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
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

//go:embed activemq.xml
var activemqXML string

var xmlTemplate = template.Must(template.New("activemq.xml").Parse(activemqXML))

// section is a part of activemq.xml whose attributes are server settings, by the prefix of their names.
type section struct {
	prefix, element string
	values          map[string]string
	ours            []string // attributes that the recipe sets itself
}

// sections start with the settings of the distribution's own activemq.xml.
func sections() []section {
	return []section{
		{"kahaDB.", "kahaDB", map[string]string{}, []string{"directory", "indexDirectory", "directoryArchive"}},
		{"policy.", "policyEntry", map[string]string{}, []string{"queue", "topic", "destination"}},
		{"memoryUsage.", "memoryUsage", map[string]string{"percentOfJvmHeap": "70"}, nil},
		{"storeUsage.", "storeUsage", map[string]string{"limit": "100 gb"}, nil},
		{"tempUsage.", "tempUsage", map[string]string{"limit": "50 gb"}, nil},
		{"amqp.", "", map[string]string{"maximumConnections": "1000", "wireFormat.maxFrameSize": "104857600"}, nil},
		{"", "broker", map[string]string{}, []string{"brokerName", "dataDirectory", "tmpDataDirectory", "brokerId", "start"}},
	}
}

// connectorOptions are the parameters of an AMQP connector; the schema doesn't list them.
var connectorOptions = []string{
	"maximumConnections", "needClientAuth", "socketBufferSize", "tcpNoDelay", "trace", "transport.producerCredit", "transport.socketBufferSize",
	"transport.tcpNoDelay", "transport.transformer", "wantClientAuth", "wireFormat.idleTimeout", "wireFormat.maxAmqpFrameSize", "wireFormat.maxFrameSize",
}

// conf returns the node's activemq.xml: the distribution's settings, those of this instance, and those asked for, checked
// by name and type.
func conf(n *provision.Node, asked map[string]string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(n.Cluster.Install, schemaFile))
	if err != nil {
		return nil, err
	}
	schemas, err := jvm.Schemas(text)
	if err != nil {
		return nil, err
	}
	all := sections()
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if err := place(all, schemas, name, asked[name]); err != nil {
			return nil, err
		}
	}
	data := map[string]any{
		"Name": n.Cluster.ID, "Login": n.Cluster.Login, "Data": n.Data, "KahaDB": all[0].values, "Policy": all[1].values,
		"Memory": all[2].values, "Store": all[3].values, "Temp": all[4].values, "Broker": all[6].values,
	}
	scheme := "amqp"
	if n.Cluster.TLS != nil {
		scheme = "amqp+ssl"
		if data["Stores"], err = jvm.NewKeyStores(n); err != nil {
			return nil, err
		}
		if n.Cluster.TLS.Mutual {
			all[5].values["needClientAuth"] = "true"
		}
	}
	var options []string
	for _, name := range slices.Sorted(maps.Keys(all[5].values)) {
		options = append(options, name+"="+all[5].values[name])
	}
	data["URI"] = fmt.Sprintf("%s://127.0.0.1:%d?%s", scheme, n.Ports["client"], strings.Join(options, "&"))
	var out bytes.Buffer
	err = xmlTemplate.Execute(&out, data)
	return out.Bytes(), err
}

// place puts a setting into its section, or refuses it.
func place(all []section, schemas map[string]jvm.Schema, name, value string) error {
	if strings.ContainsAny(value, "<>&\"'#{}") {
		return &provision.ErrSetting{Name: name, Reason: "its value must not hold any of < > & # { } and quotes: the server would read more in it than a text"}
	}
	for _, s := range all {
		key, ok := strings.CutPrefix(name, s.prefix)
		switch {
		case !ok:
			continue
		case slices.Contains(s.ours, key):
			return &provision.ErrSetting{Name: name, Reason: "it is set when the broker is started"}
		case s.element == "" && !slices.Contains(connectorOptions, key):
			return &provision.ErrSetting{Name: name, Reason: "an AMQP connector has no such parameter; the nearest is " + s.prefix + suggest.Closest(key, connectorOptions)}
		case s.element != "":
			if err := schemas[s.element].Check(s.prefix, key, value); err != nil {
				return err
			}
		}
		s.values[key] = value
		if s.prefix == "memoryUsage." && key != "percentOfJvmHeap" { // one of them at a time
			delete(s.values, "percentOfJvmHeap")
		}
		return nil
	}
	panic("the last section has no prefix")
}

// stored returns how safe a persistent message is when the broker accepts it. KahaDB either waits for the flush or hands
// the message to another thread without waiting.
func stored(settings map[string]any) driver.Persistence {
	is := func(name, otherwise string) string {
		if v, ok := settings[name]; ok {
			return provision.Text(v)
		}
		return otherwise
	}
	if is("persistent", "true") == "true" && is("kahaDB.enableJournalDiskSyncs", "true") == "true" &&
		strings.EqualFold(is("kahaDB.journalDiskSyncStrategy", "always"), "always") {
		return driver.Fsync
	}
	return driver.Memory
}

// extractSchema takes the schema of activemq.xml out of the jar that understands it.
func extractSchema(i *provision.Install) error {
	jar, err := zip.OpenReader(filepath.Join(i.Dir, "lib", "activemq-spring-"+i.Version+".jar"))
	if err != nil {
		return err
	}
	defer jar.Close()
	f, err := jar.Open("activemq.xsd")
	if err != nil {
		return err
	}
	defer f.Close()
	text, errR := io.ReadAll(f)
	return errors.Join(errR, os.WriteFile(filepath.Join(i.Dir, schemaFile), text, 0o644))
}
