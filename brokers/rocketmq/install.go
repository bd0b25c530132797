package rocketmq

import (
	"context"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// locks are the SHA-256 of the files that each version is fetched as.
//
//go:embed locks
var locks embed.FS

// loopback is what starts the server on 127.0.0.1 alone. Its files say why that takes more than settings.
//
//go:embed loopback/Server.java loopback/NoReplication.java
var loopback embed.FS

const (
	// compiler makes classes of loopback; a runtime of Java has none of its own.
	compiler = "org.eclipse.jdt:ecj:3.37.0"
	classes  = "classes"
	// knownNames is the file with the names of all settings.
	knownNames = "settings.txt"
	mainClass  = "brokermark.Server"
	// provider is where the server looks for a class that replicates, and finds ours.
	provider = "META-INF/service/org.apache.rocketmq.store.ha.HAService"
)

// compile prints the classes that it makes of sources, the rest of its arguments; it can't write into the installation.
const compile = `jar=$1 path=$2; shift 2
java -jar "$jar" -17 -nowarn -proc:none -classpath "$path" -d made "$@" >&2 && cd made && for c in brokermark/*.class; do echo "$c $(base64 -w0 "$c")"; done`

// install fetches the server, compiles what starts it, and asks it for the names of its settings.
func install(ctx context.Context, i *provision.Install) error {
	const group = "org.apache.rocketmq:rocketmq-"
	if err := i.Maven(ctx, locks, group+"proxy:"+i.Version, group+"namesrv:"+i.Version, compiler); err != nil {
		return err
	}
	if err := os.CopyFS(i.Dir, loopback); err != nil {
		return err
	}
	if err := addClasses(ctx, i); err != nil {
		return fmt.Errorf("compile what starts the server: %w", err)
	}
	path := filepath.Join(i.Dir, classes) + string(filepath.ListSeparator) + filepath.Join(i.Dir, "lib", "*")
	names, err := i.Run(ctx, provision.Command{Path: "java", Args: []string{"-cp", path, mainClass, "settings"}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(i.Dir, knownNames), []byte(names), 0o644)
}

// addClasses puts the compiled classes beside the jars; the compiler isn't needed afterwards.
func addClasses(ctx context.Context, i *provision.Install) error {
	jars, errJ := filepath.Glob(filepath.Join(i.Dir, "lib", "*.jar"))
	sources, errS := filepath.Glob(filepath.Join(i.Dir, "loopback", "*.java"))
	found, errF := filepath.Glob(filepath.Join(i.Dir, "lib", "ecj-*.jar"))
	if err := errors.Join(errJ, errS, errF); err != nil || len(found) != 1 {
		return fmt.Errorf("%d compilers were fetched, want one: %w", len(found), err)
	}
	args := append([]string{"-c", compile, "sh", found[0], strings.Join(jars, string(filepath.ListSeparator))}, sources...)
	printed, err := i.Run(ctx, provision.Command{Path: "sh", Args: args})
	if err != nil {
		return err
	}
	files := map[string][]byte{provider: []byte("brokermark.NoReplication\n")}
	for line := range strings.Lines(printed) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		class, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil || !filepath.IsLocal(name) {
			return fmt.Errorf("it printed %.200q", line)
		}
		files[name] = class
	}
	var errs []error
	for name, text := range files {
		errs = append(errs, os.MkdirAll(filepath.Dir(filepath.Join(i.Dir, classes, name)), 0o755), os.WriteFile(filepath.Join(i.Dir, classes, name), text, 0o644))
	}
	return errors.Join(append(errs, os.Remove(found[0]))...)
}
