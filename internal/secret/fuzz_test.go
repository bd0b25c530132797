package secret

import (
	"strings"
	"testing"
)

// Whatever stands around it, the password of a URL is taken out, and what was taken out stays out.
func FuzzNoPasswordOfAURLIsShown(f *testing.F) {
	for _, s := range [][2]string{{"", ""}, {"--store ", "/db"}, {"'", "?a=b@c"}, {"x=", " password=1"}, {"é", "@"}} {
		f.Add(s[0], s[1])
	}
	const password = "Zs3cr3tZ"
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + " postgres://u:" + password + "@h" + after
		got := Redact(text)
		if strings.Contains(got, password) && !strings.Contains(before+after, password) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
