// Package web holds the front end of the HTML report, as npm built it. It knows nothing of what is shown with it.
package web

import _ "embed"

// Committed, so that go install gives a whole program (decision 019).
//
//go:embed dist/main.js
var script string

//go:embed dist/page.css
var style string

// Bundle is the front end's script and style sheet.
func Bundle() (js, css string) { return script, style }
