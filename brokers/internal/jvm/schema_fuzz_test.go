package jvm

import "testing"

// Whatever a product's schema holds, it is refused, or decides of every name and value whether it is allowed.
func FuzzSchema(f *testing.F) {
	for _, text := range []string{schemaText, schemaText[:len(schemaText)/2], "", "<a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", `<schema><element name="a"/></schema>`} {
		f.Add([]byte(text), "1")
	}
	f.Fuzz(func(t *testing.T, text []byte, value string) {
		all, err := Schemas(text)
		if err != nil && all != nil {
			t.Errorf("both %d schemas and %v", len(all), err)
		}
		for _, s := range all {
			for name, v := range s {
				for _, one := range v.enum {
					if err := s.Check("x.", name, one); err != nil {
						t.Error(err)
					}
				}
				_ = s.Check("x.", name, value)
				_ = s.Check("x.", name+"s", value)
			}
		}
	})
}
