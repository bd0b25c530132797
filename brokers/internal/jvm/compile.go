package jvm

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

const (
	// Compiler makes classes; a runtime of Java has none of its own. It is fetched with the jars.
	Compiler = "org.eclipse.jdt:ecj:3.37.0"
	// Classes is the folder of an installation where Compile puts them.
	Classes = "classes"
)

// compile compiles the sources that are its remaining arguments and prints the classes; it can't write into the installation.
const compile = `jar=$1 path=$2; shift 2
java -jar "$jar" -17 -nowarn -proc:none -classpath "$path" -d made "$@" >&2 && cd made && find . -name '*.class' | while read -r c; do echo "$c $(base64 -w0 "$c")"; done`

// Compile puts our Java sources, which start a server, beside its jars, as source and compiled; the compiler isn't needed afterwards.
func Compile(ctx context.Context, i *provision.Install, sources fs.FS) error {
	if err := os.CopyFS(i.Dir, sources); err != nil {
		return err
	}
	jars, errJ := filepath.Glob(filepath.Join(i.Dir, "lib", "*.jar"))
	found, errF := filepath.Glob(filepath.Join(i.Dir, "lib", "ecj-*.jar"))
	if err := errors.Join(errJ, errF); err != nil || len(found) != 1 {
		return fmt.Errorf("%d compilers were fetched, want one: %w", len(found), err)
	}
	args := []string{"-c", compile, "sh", found[0], strings.Join(jars, string(filepath.ListSeparator))}
	if err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			args = append(args, filepath.Join(i.Dir, path))
		}
		return err
	}); err != nil {
		return err
	}
	printed, err := i.Run(ctx, provision.Command{Path: "sh", Args: args})
	if err != nil {
		return fmt.Errorf("compile what starts the server: %w", err)
	}
	for line := range strings.Lines(printed) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		class, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil || !filepath.IsLocal(name) {
			return fmt.Errorf("the compiler printed %.200q", line)
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(i.Dir, Classes, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(i.Dir, Classes, name), class, 0o644)); err != nil {
			return err
		}
	}
	return os.Remove(found[0])
}
