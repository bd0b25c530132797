package figure

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// What is drawn is what was drawn when somebody last looked at it. After -update look at the figures: BROKERMARK_FIGURES names a directory
// for them (see TestEveryFigureIsWrittenInEveryFormat).
func TestFiguresAreDrawnAsTheyWereSeen(t *testing.T) {
	figures := map[string]Figure{"exhibit": drawn(t, exhibit(), Options{}), "contenders": drawn(t, contenders(), Options{})}
	for _, name := range Names() {
		figures[name] = built(t, name, Options{})
	}
	for name, f := range figures {
		got := rounded(written(t, f, "svg"))
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(got, want) {
			continue
		}
		gotLines, wantLines := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
		for i := range min(len(gotLines), len(wantLines)) {
			if !bytes.Equal(gotLines[i], wantLines[i]) {
				t.Errorf("%s, line %d:\n%.300s\nwant\n%.300s", path, i+1, gotLines[i], wantLines[i])
				break
			}
		}
		if len(gotLines) != len(wantLines) {
			t.Errorf("%s has %d lines, want %d", path, len(gotLines), len(wantLines))
		}
	}
}

var decimals = regexp.MustCompile(`-?\d+\.\d+`)

// rounded has the numbers of an SVG with one decimal, which no processor computes otherwise than another one.
func rounded(svg []byte) []byte {
	return decimals.ReplaceAllFunc(svg, func(text []byte) []byte {
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return text
		}
		return strconv.AppendFloat(nil, v, 'f', 1, 64)
	})
}
