// Sbom prints the bill of materials of a built program in CycloneDX's JSON: Go, the modules that its build information
// names, and the npm packages of the front end inside it.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/brokermark/brokermark/internal/notices"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM VERSION")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(w io.Writer, program, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-8%s-8%s-%x", sum[:4], sum[4:6], fmt.Sprintf("%x", sum[6:8])[1:], fmt.Sprintf("%x", sum[8:10])[1:], sum[10:16])
	main := component(cyclonedx.ComponentTypeApplication, "golang", info.Main.Path, version)
	main.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}}
	main.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}}
	bom.Metadata = &cyclonedx.Metadata{Timestamp: sourceDate().Format(time.RFC3339), Component: &main}
	parts := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "golang", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component(cyclonedx.ComponentTypeLibrary, "golang", m.Path, m.Version))
	}
	for _, c := range notices.FrontEnd() {
		parts = append(parts, component(cyclonedx.ComponentTypeLibrary, "npm", c.Name, c.Version))
	}
	bom.Components = &parts
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func component(kind cyclonedx.ComponentType, registry, name, version string) cyclonedx.Component {
	id := "pkg:" + registry + "/" + name + "@" + url.QueryEscape(version)
	return cyclonedx.Component{BOMRef: id, Type: kind, Name: name, Version: version, PackageURL: id}
}

// sourceDate is the time of what was built, so that building it again gives the same file.
func sourceDate() time.Time {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Now().UTC()
	}
	return time.Unix(seconds, 0).UTC()
}
