package artemis

import "testing"

// An answer that is no list of one value once left the result as it was, without an error.
func TestAnAttributeIsTheOneValueOfItsAnswer(t *testing.T) {
	for text, good := range map[string]bool{`[true]`: true, `[false]`: true, `null`: false, `[]`: false, `[true, true]`: false, `{}`: false, `["x"]`: false, ``: false} {
		var v bool
		if err := only(text, &v); (err == nil) != good {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func FuzzAttribute(f *testing.F) {
	for _, text := range []string{`[true]`, `["STARTED"]`, `[null]`, `[]`, `null`, `[1, 2]`, `[{"a": [1e99]}]`, ``} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, second := "unset", "unset"
		if err, again := only(text, &first), only(text, &second); first != second || (err == nil) != (again == nil) {
			t.Errorf("%q, %v; then %q, %v", first, err, second, again)
		}
	})
}
