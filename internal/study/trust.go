package study

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/usual"
)

// wayIn explains how to give credentials for a broker.
const wayIn = "user names the user of an attached broker, and passwordEnv or passwordFile say where the password is"

// native checks settings by their native names for errors on any broker: a secret would stand in every record, and a line break
// would write other settings into the configuration of the broker, or of clients that it is pasted into.
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
		case strings.ContainsFunc(name+text, unicode.IsControl):
			v.fail(scope+"."+name, "its name and value must be one line, without control characters")
		}
	}
}

var (
	// java are its options that choose memory, collectors and threads; others load code, run commands, write files or listen.
	java = regexp.MustCompile(`^jvm\.(Xm[snx]|Xss|XX:[+-](Use[A-Z][A-Za-z0-9]*|AlwaysPreTouch|DisableExplicitGC|ParallelRefProcEnabled|TieredCompilation|Z[A-Z][A-Za-z]*)|` +
		`XX:([A-Z][A-Za-z0-9]*(Size|Percent|Percentage|Ratio|Threads|Millis|Threshold|Level)|MaxRAM))$`)
	// plain values are numbers, sizes, times and words: no path, address, variable or expression.
	plain = regexp.MustCompile(`^[A-Za-z0-9 ._:,%+*-]*$`)
)

// trust refuses settings of an untrusted document that could harm this machine; settings from flags are the user's own. It is
// called before any file is read.
func (v *validator) trust() {
	if !v.distrust {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(v.given.given)) {
		if !v.documents(path) {
			continue
		}
		text := fmt.Sprint(v.given.given[path].value)
		name, server := strings.CutPrefix(path, "server.")
		switch {
		case path == "passwordEnv" || path == "passwordFile" || strings.HasPrefix(path, "oauth."):
			v.fail(path, "it sends a secret of yours where the document says; name it with a flag, or trust the document with --trust-spec")
		case path == "caFile" || path == "certFile" || path == "keyFile":
			v.fail(path, "it says with whose key you log in, and whom you believe; name it with a flag, or trust the document with --trust-spec")
		case path == "payloadFile" && v.spec.PayloadFile != "" && v.documents("attach"):
			v.fail(path, "it sends a file of yours where the document says; name one of payloadFile and attach with a flag, or trust the document with --trust-spec")
		case strings.HasPrefix(path, "client.") && v.spec.Login+v.spec.User != "" && strings.Contains(text, ":"):
			v.fail(path, "%q may be an address, which your login would be shown to; name it with a flag, or trust the document with --trust-spec", text)
		case path == "topicName":
			v.fail(path, "it sends to a topic of yours, or reads one; name it with a flag, or trust the document with --trust-spec")
		case server && !tunes(v.spec.Broker, name):
			v.fail(path, "it may have the broker load code, run commands, use files or listen; if you trust the document, say --trust-spec; brokermark list settings %s names what needs no trust", v.spec.Broker)
		case server && !plain.MatchString(text):
			v.fail(path, "%q may be a path, an address or an expression; if you trust the document, say --trust-spec", text)
		}
	}
}

// tunes reports whether a setting of a broker's server needs no trust.
func tunes(broker, name string) bool {
	return slices.Contains(usual.Of(broker).Tuning, name) || java.MatchString(name)
}

// Untrusted returns the paths, sorted, of settings that an untrusted document could not give to a broker, or whose values are not
// plain. settings are those in force, by the beginning of their paths: "server.", "client." or "topicConfig.".
func Untrusted(broker string, settings map[string]map[string]any) (paths []string) {
	known := usual.Of(broker).Settings
	for scope, values := range settings {
		for name, value := range values {
			text := fmt.Sprint(value)
			fallback, declared := known[scope+name]
			declared = declared || scope == "server." && tunes(broker, name)
			if text != "" && text != fallback && !(declared && plain.MatchString(text)) {
				paths = append(paths, scope+name)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// documents reports whether the study's document gives path, and no flag.
func (v *validator) documents(path string) bool {
	at := v.given.given[path].at
	return at.line > 0 || at.foreign
}
