// Package web holds the front end of the HTML report, as npm built it. It knows nothing of what is shown with it.
package web

import (
	"embed"
	"errors"
	"io/fs"
)

// The directory always holds .keep, so the program compiles before npm ran.
//
//go:embed all:dist
var dist embed.FS

// ErrNotBuilt tells that this program was built without the front end.
var ErrNotBuilt = errors.New("this brokermark was built without its front end, which HTML needs: install npm, then make build")

// Bundle is the front end's script and style sheet, or ErrNotBuilt.
func Bundle() (script, style string, err error) { return bundle(dist) }

func bundle(files fs.FS) (script, style string, err error) {
	js, err := fs.ReadFile(files, "dist/main.js")
	if err != nil {
		return "", "", ErrNotBuilt
	}
	css, err := fs.ReadFile(files, "dist/page.css")
	if err != nil {
		return "", "", ErrNotBuilt
	}
	return string(js), string(css), nil
}
