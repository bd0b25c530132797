package hivemq

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

const (
	queueSetting   = "mqtt.queued-messages.max-queue-size"
	receiveSetting = "mqtt.receive-maximum.server-receive-maximum"
)

// known are the settings of config.xml by the path of their elements, with their allowed words; nil for a number.
var known = map[string][]string{
	queueSetting:                           nil,
	receiveSetting:                         nil,
	modeSetting:                            {"file", "in-memory"},
	"mqtt.queued-messages.strategy":        {"discard", "discard-oldest"},
	"mqtt.session-expiry.max-interval":     nil,
	"mqtt.message-expiry.max-interval":     nil,
	"mqtt.packets.max-packet-size":         nil,
	"mqtt.keep-alive.max-keep-alive":       nil,
	"mqtt.retained-messages.enabled":       {"true", "false"},
	"mqtt.topic-alias.enabled":             {"true", "false"},
	"mqtt.topic-alias.max-per-client":      nil,
	"restrictions.max-connections":         nil,
	"restrictions.max-topic-length":        nil,
	"restrictions.max-client-id-length":    nil,
	"restrictions.no-connect-idle-timeout": nil,
}

// defaults make acknowledged messages stay until they are delivered: with its own defaults, 10 and 1000, the server drops
// acknowledged messages once a consumer is more than a thousand behind.
var defaults = map[string]string{queueSetting: "100000000", receiveSetting: "1000"}

// conf returns config.xml: the settings asked for, checked by name and value, and those of this instance.
func conf(n *provision.Node, asked map[string]string) ([]byte, error) {
	settings := maps.Clone(defaults)
	for name, value := range asked {
		words, ok := known[name]
		_, err := strconv.ParseInt(value, 10, 64)
		switch {
		case !ok:
			return nil, &provision.ErrSetting{Name: name, Reason: "it is none of those that can be set here; the nearest is " + suggest.Closest(name, slices.Collect(maps.Keys(known)))}
		case words != nil && !slices.Contains(words, value):
			return nil, &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not one of %s", value, strings.Join(words, ", "))}
		case words == nil && err != nil:
			return nil, &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not a whole number", value)}
		}
		settings[name] = value
	}
	listener, err := listener(n)
	if err != nil {
		return nil, err
	}
	root := element{XMLName: xml.Name{Local: "hivemq"}, Inner: []*element{listener, leaf("anonymous-usage-statistics", "enabled", "false")}}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		root.set(strings.Split(name, "."), settings[name])
	}
	return xml.MarshalIndent(root, "", "  ")
}

// listener returns the only listener, plain or with TLS.
func listener(n *provision.Node) (*element, error) {
	kind := "tcp-listener"
	var secure *element
	if t := n.Cluster.TLS; t != nil {
		stores, err := jvm.NewKeyStores(n)
		if err != nil {
			return nil, err
		}
		keys := leaf("keystore", "path", stores.Keys)
		keys.set([]string{"password"}, stores.Password)
		keys.set([]string{"private-key-password"}, stores.Password)
		kind, secure = "tls-tcp-listener", &element{XMLName: xml.Name{Local: "tls"}, Inner: []*element{keys}}
		if t.Mutual {
			trust := leaf("truststore", "path", stores.Trust)
			trust.set([]string{"password"}, stores.Password)
			secure.Inner = append(secure.Inner, trust)
			secure.set([]string{"client-authentication-mode"}, "REQUIRED")
		}
	}
	one := leaf(kind, "port", strconv.Itoa(n.Ports["client"]))
	one.set([]string{"bind-address"}, "127.0.0.1")
	if secure != nil {
		one.Inner = append(one.Inner, secure)
	}
	return &element{XMLName: xml.Name{Local: "listeners"}, Inner: []*element{one}}, nil
}

// element is one of an XML document, with a text or with others in it.
type element struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Inner   []*element
}

func leaf(name, inner, text string) *element {
	e := &element{XMLName: xml.Name{Local: name}}
	e.set([]string{inner}, text)
	return e
}

// set creates the missing elements of path and gives the last one the text.
func (e *element) set(path []string, text string) {
	if len(path) == 0 {
		e.Text = text
		return
	}
	at := slices.IndexFunc(e.Inner, func(i *element) bool { return i.XMLName.Local == path[0] })
	if at < 0 {
		at = len(e.Inner)
		e.Inner = append(e.Inner, &element{XMLName: xml.Name{Local: path[0]}})
	}
	e.Inner[at].set(path[1:], text)
}
