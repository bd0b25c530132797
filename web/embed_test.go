package web

import (
	"errors"
	"testing"
	"testing/fstest"
)

func TestWithoutTheBundleOneSentenceSaysHowToBuildIt(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"nothing":        {"dist/.keep": {}},
		"no style sheet": {"dist/main.js": {Data: []byte("1")}},
	} {
		if _, _, err := bundle(files); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("%s: %v, want %v", name, err, ErrNotBuilt)
		}
	}
	script, style, err := bundle(fstest.MapFS{"dist/main.js": {Data: []byte("1")}, "dist/page.css": {Data: []byte("2")}})
	if script != "1" || style != "2" || err != nil {
		t.Errorf("got %q, %q, %v", script, style, err)
	}
}
