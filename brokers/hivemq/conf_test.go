package hivemq

import (
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

// The server puts variables of the environment in for ${NAME}.
func TestAValueComesBackAsTextOrIsRefused(t *testing.T) {
	n := &provision.Node{ID: 1, Ports: map[string]int{"client": 1}}
	n.Cluster = &provision.Cluster{ID: "c", Nodes: []*provision.Node{n}}
	for name, words := range known {
		for _, value := range append([]string{"100", "${HOME}", "1${HOME}", "#{1}", "<x/>", "&x;", ""}, words...) {
			text, err := conf(n, map[string]string{name: value})
			var refused *provision.ErrSetting
			if errors.As(err, &refused) && refused.Name == name {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := xml.Unmarshal(text, new(any)); err != nil || strings.ContainsAny(value, "${}#<>&") || !strings.Contains(string(text), ">"+value+"</") {
				t.Errorf("%s: %q comes back as %s: %v", name, value, text, err)
			}
		}
	}
}
