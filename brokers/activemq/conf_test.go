package activemq

import (
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

// The server reads expressions and variables in what stands in its configuration, and runs them.
func TestAValueComesBackAsTextOrIsRefused(t *testing.T) {
	const name = "kahaDB.journalDiskSyncStrategy"
	dir := t.TempDir()
	schema := `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="kahaDB"><xs:complexType>
		<xs:attribute name="journalDiskSyncStrategy" type="xs:string"/></xs:complexType></xs:element></xs:schema>`
	if err := os.WriteFile(filepath.Join(dir, schemaFile), []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	n := &provision.Node{ID: 1, Data: "/data", Ports: map[string]int{"client": 1}}
	n.Cluster = &provision.Cluster{ID: "c", Install: dir, Nodes: []*provision.Node{n}}
	values := []string{"always", "10 mb", "x#{T(java.lang.Runtime).getRuntime()}", "#{1}", "##{1}", "#bean", "a${os.name}", "$ {x}", "{", "}", "always%20", "x]]>", "a\u00a0b"}
	for c := ' '; c <= '~'; c++ {
		values = append(values, "a"+string(c)+"b", string(c)+"b")
	}
	taken := 0
	for _, value := range values {
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
			Value string `xml:"journalDiskSyncStrategy,attr"`
		}
		err = xml.Unmarshal([]byte(`<b `+string(text[strings.Index(string(text), "journalDiskSyncStrategy"):])), &read)
		if err != nil || read.Value != value || strings.ContainsAny(value, "#{}") {
			t.Errorf("%q comes back as %q: %v", value, read.Value, err)
		}
	}
	if taken < 100 {
		t.Errorf("only %d values were taken", taken)
	}
}
