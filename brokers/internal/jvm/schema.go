package jvm

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

// Schema is a product's XML schema: the types of its simple elements or attributes, by name.
type Schema map[string]value

type value struct {
	kind string   // of XML schema: boolean, int, …
	enum []string // where only these are allowed
}

// xsd is the part of an XML schema that simple values are described in, in the two ways that the products write it.
type xsd struct {
	Types []struct {
		Name     string `xml:"name,attr"`
		All      []item `xml:"all>element"`
		Sequence []item `xml:"sequence>element"`
	} `xml:"complexType"`
	Elements []struct {
		Name       string `xml:"name,attr"`
		Attributes []item `xml:"complexType>attribute"`
	} `xml:"element"`
}

type item struct {
	Name string `xml:"name,attr"`
	Type string `xml:"type,attr"`
	Enum []struct {
		Value string `xml:"value,attr"`
	} `xml:"simpleType>restriction>enumeration"`
}

// Schemas reads an XML schema; the result is by name of the type or element.
func Schemas(text []byte) (map[string]Schema, error) {
	var x xsd
	if err := xml.Unmarshal(text, &x); err != nil {
		return nil, fmt.Errorf("read the server's XML schema: %w", err)
	}
	all := map[string]Schema{}
	for _, t := range x.Types {
		all[t.Name] = schemaOf(slices.Concat(t.All, t.Sequence))
	}
	for _, e := range x.Elements {
		all[e.Name] = schemaOf(e.Attributes)
	}
	return all, nil
}

func schemaOf(items []item) Schema {
	s := Schema{}
	for _, i := range items {
		v := value{}
		for _, e := range i.Enum {
			v.enum = append(v.enum, e.Value)
		}
		_, v.kind, _ = strings.Cut(i.Type, ":")
		if _, simple := parse[v.kind]; simple || v.enum != nil {
			s[i.Name] = v
		}
	}
	return s
}

// parse reports whether a text is a value of a simple type of XML schema; the servers take sizes with a unit for text.
var parse = map[string]func(string) bool{
	"string":  func(string) bool { return true },
	"boolean": func(s string) bool { return s == "true" || s == "false" },
	"int":     whole,
	"integer": whole,
	"long":    whole,
	"float":   number,
	"double":  number,
}

func whole(s string) bool  { _, err := strconv.ParseInt(s, 10, 64); return err == nil }
func number(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }

// Check refuses a name that the schema doesn't have and a value that is not of its type. The setting's full name is
// prefix and name together.
func (s Schema) Check(prefix, name, text string) error {
	v, known := s[name]
	switch {
	case !known:
		return &provision.ErrSetting{Name: prefix + name, Reason: "there is none of that name; the nearest is " + prefix + suggest.Closest(name, slices.Collect(maps.Keys(s)))}
	case v.enum != nil && !slices.Contains(v.enum, text):
		return &provision.ErrSetting{Name: prefix + name, Reason: fmt.Sprintf("%q is not one of %s", text, strings.Join(v.enum, ", "))}
	case v.enum == nil && !parse[v.kind](text):
		return &provision.ErrSetting{Name: prefix + name, Reason: fmt.Sprintf("%q is not a value of type %s", text, v.kind)}
	}
	return nil
}
