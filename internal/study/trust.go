package study

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/brokermark/brokermark/internal/secret"
)

// wayIn is how a broker is told who comes.
const wayIn = "user names the user of an attached broker, and passwordEnv or passwordFile say where the password is"

// native checks the settings by their native names for what is wrong whatever the broker: a secret would stand in every
// record, and a line break would write other settings into the broker's configuration.
func (v *validator) native() {
	v.nativeIn("server", v.spec.Server)
	v.nativeIn("client", v.spec.Client)
	v.nativeIn("topicConfig", v.spec.Topic)
}

func (v *validator) nativeIn(scope string, settings map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		text := fmt.Sprint(settings[name])
		switch {
		case secret.Name(name) && !strings.HasPrefix(text, "file:") || secret.In(text):
			v.fail(scope+"."+name, "it holds a secret, which would stand in every record; %s", wayIn)
		case scope == "server" && strings.ContainsFunc(name+text, unicode.IsControl):
			v.fail(scope+"."+name, "its name and value must be one line, without control characters")
		}
	}
}

var (
	// harmless are java's options that choose memory, collectors and numbers; others load code, run commands or read files.
	harmless = regexp.MustCompile(`^jvm\.(Xm[snx]|Xss|XX:[+-][A-Za-z0-9]+|XX:[A-Za-z0-9]+)$`)
	quantity = regexp.MustCompile(`^[0-9.]+[kKmMgGtT]?$|^true$|^false$`)
	// loading are the endings of names of settings that have a broker load code, run commands or read files.
	loading = regexp.MustCompile(`(?i)(loadmodule|plugin|plugins|plugin_dir|include|exec|script|command|class|classes|className|class\.name|reporters|interceptors?|directory)$`)
)

// runs tells that a server setting may have the broker run what the spec's author wants.
func runs(name, value string) bool {
	if strings.HasPrefix(name, "jvm.") {
		return !harmless.MatchString(name) || !quantity.MatchString(value)
	}
	return loading.MatchString(name)
}

// trust refuses what the document of a stranger must not do with this machine; what stands in a flag is the user's own.
func (v *validator) trust() {
	if !v.distrust {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(v.given.given)) {
		if v.given.given[path].at.line == 0 {
			continue
		}
		value := fmt.Sprint(v.given.given[path].value)
		name, server := strings.CutPrefix(path, "server.")
		switch {
		case path == "passwordEnv" || path == "passwordFile":
			v.fail(path, "it sends a secret of yours where the document says; name it with a flag, or trust the document with --trust-spec")
		case server && runs(name, value):
			v.fail(path, "it may have the broker load code, run commands or read files; if you trust the document, say --trust-spec")
		}
	}
}
