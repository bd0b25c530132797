package artemis

import (
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

// The server puts properties of the system in for what looks like a variable.
func TestAValueComesBackAsTextOrIsRefused(t *testing.T) {
	dir := t.TempDir()
	schema := `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:complexType name="configurationType"><xsd:all>
		<xsd:element name="jmx-domain" type="xsd:string"/></xsd:all></xsd:complexType></xsd:schema>`
	err := errors.Join(os.Mkdir(filepath.Join(dir, "schema"), 0o700), os.WriteFile(filepath.Join(dir, "schema", "artemis-configuration.xsd"), []byte(schema), 0o600),
		os.WriteFile(filepath.Join(dir, tunedFile), []byte("1"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	n := &provision.Node{ID: 1, Data: "/data", Ports: map[string]int{"client": 1}}
	n.Cluster = &provision.Cluster{ID: "c", Install: dir, Nodes: []*provision.Node{n}}
	values := []string{"a b", "a${user.home}", "${user.home}", "#{1}", "$ {x}", "x]]>"}
	for c := ' '; c <= '~'; c++ {
		values = append(values, "a"+string(c)+"b")
	}
	taken := 0
	for _, value := range values {
		for _, name := range []string{"jmx-domain", "acceptor.batchDelay"} {
			text, err := conf(n, map[string]string{name: value})
			var refused *provision.ErrSetting
			if errors.As(err, &refused) && refused.Name == name {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			taken++
			var read struct {
				Value    string `xml:"core>jmx-domain"`
				Acceptor string `xml:"core>acceptors>acceptor"`
			}
			err = xml.Unmarshal(text, &read)
			if err != nil || read.Value != value && !strings.Contains(read.Acceptor, "batchDelay="+value+";") || strings.ContainsAny(value, "#{}") {
				t.Errorf("%s: %q comes back as %q, %q: %v", name, value, read.Value, read.Acceptor, err)
			}
		}
	}
	if taken < 80 {
		t.Errorf("only %d values were taken", taken)
	}
}
