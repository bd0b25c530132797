package jvm

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

func TestOptionsOfJavaAreTakenOutOfTheSettings(t *testing.T) {
	server, options, err := Split(map[string]any{
		"queue.size": 1e9, "jvm.Xmx": "1g", "jvm.XX:+UseZGC": true, "jvm.XX:MaxGCPauseMillis": 20, "jvm.Dname": "value",
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"-Dname=value", "-XX:+UseZGC", "-XX:MaxGCPauseMillis=20", "-Xmx1g"}; !slices.Equal(options, want) {
		t.Errorf("options %v, want %v", options, want)
	}
	if len(server) != 1 || server["queue.size"] != "1000000000" {
		t.Errorf("settings %v", server)
	}
	for name, value := range map[string]any{"jvm.heap": "1g", "queue.size": "1\n2"} {
		var refused *provision.ErrSetting
		if _, _, err := Split(map[string]any{name: value}); !errors.As(err, &refused) || refused.Name != name {
			t.Errorf("%s: %v; want it refused by name", name, err)
		}
	}
}

func TestAnOptionAskedForReplacesTheUsualOneOfItsKind(t *testing.T) {
	usual := []string{"-Xms512M", "-Xmx2G", "-XX:+UseG1GC", "-XX:+UseStringDeduplication", "-XX:MaxGCPauseMillis=10"}
	n := &provision.Node{Dir: "/node"}
	for _, c := range []struct{ asked, want string }{
		{"", "-Djava.io.tmpdir=/node/tmp -Xms512M -Xmx2G -XX:+UseG1GC -XX:+UseStringDeduplication -XX:MaxGCPauseMillis=10"},
		{"-Xmx1g", "-Djava.io.tmpdir=/node/tmp -Xms512M -XX:+UseG1GC -XX:+UseStringDeduplication -XX:MaxGCPauseMillis=10 -Xmx1g"},
		{"-XX:+UseZGC", "-Djava.io.tmpdir=/node/tmp -Xms512M -Xmx2G -XX:+UseStringDeduplication -XX:MaxGCPauseMillis=10 -XX:+UseZGC"},
		{"-XX:-UseStringDeduplication", "-Djava.io.tmpdir=/node/tmp -Xms512M -Xmx2G -XX:+UseG1GC -XX:MaxGCPauseMillis=10 -XX:-UseStringDeduplication"},
		{"-Djava.io.tmpdir=/t", "-Xms512M -Xmx2G -XX:+UseG1GC -XX:+UseStringDeduplication -XX:MaxGCPauseMillis=10 -Djava.io.tmpdir=/t"},
		{"-XX:MaxGCPauseMillis=5", "-Djava.io.tmpdir=/node/tmp -Xms512M -Xmx2G -XX:+UseG1GC -XX:+UseStringDeduplication -XX:MaxGCPauseMillis=5"},
	} {
		if got := strings.Join(Options(n, usual, strings.Fields(c.asked)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.asked, got, c.want)
		}
	}
}

// schemaText has the two forms that the products' schemas are written in.
const schemaText = `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <xsd:complexType name="configurationType"><xsd:all>
    <xsd:element name="journal-datasync" type="xsd:boolean"/>
    <xsd:element name="thread-pool-max-size" type="xsd:int"/>
    <xsd:element name="acceptors"><xsd:complexType/></xsd:element>
    <xsd:element name="journal-type"><xsd:simpleType><xsd:restriction base="xsd:string">
      <xsd:enumeration value="NIO"/><xsd:enumeration value="MAPPED"/></xsd:restriction></xsd:simpleType></xsd:element>
  </xsd:all></xsd:complexType>
  <xsd:element name="kahaDB"><xsd:complexType>
    <xsd:attribute name="checkpointInterval" type="xsd:long"/>
  </xsd:complexType></xsd:element>
</xsd:schema>`

func TestASchemaRefusesNamesAndValuesItDoesNotHave(t *testing.T) {
	schemas, err := Schemas([]byte(schemaText))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ schema, name, value, reason string }{
		{"configurationType", "journal-typ", "NIO", "there is none of that name; the nearest is x.journal-type"},
		{"configurationType", "acceptors", "x", "there is none of that name; the nearest is"},
		{"configurationType", "journal-type", "AIO", `"AIO" is not one of NIO, MAPPED`},
		{"configurationType", "journal-datasync", "yes", `"yes" is not a value of type boolean`},
		{"configurationType", "thread-pool-max-size", "1.5", `"1.5" is not a value of type int`},
		{"kahaDB", "checkpointInterval", "soon", `"soon" is not a value of type long`},
		{"configurationType", "journal-type", "MAPPED", ""},
		{"configurationType", "journal-datasync", "false", ""},
		{"kahaDB", "checkpointInterval", "5000", ""},
	} {
		err := schemas[c.schema].Check("x.", c.name, c.value)
		var refused *provision.ErrSetting
		switch {
		case c.reason == "" && err != nil:
			t.Errorf("%s = %s: %v; want it accepted", c.name, c.value, err)
		case c.reason == "":
		case !errors.As(err, &refused) || refused.Name != "x."+c.name || !strings.HasPrefix(refused.Reason, c.reason):
			t.Errorf("%s = %s: %v; want it refused: %s", c.name, c.value, err, c.reason)
		}
	}
	if _, err := Schemas([]byte("<no")); err == nil {
		t.Error("a broken schema was read")
	}
}
