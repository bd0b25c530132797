// Package jvm is shared by the recipes of brokers in Java: options of java among the server settings, key stores. It knows
// nothing of any product's configuration.
package jvm

import (
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// Needs is what a version needs from the machine.
var Needs = []provision.Need{
	{Command: "java", Apt: []string{"default-jre-headless"}},
	{Command: "mvn", Apt: []string{"maven"}},
}

// prefix marks the server settings that are options of java: jvm.Xmx, jvm.XX:+UseZGC.
const prefix = "jvm."

// Split takes the options of java out of a cluster's server settings.
func Split(settings map[string]any) (server map[string]string, options []string, err error) {
	server = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		text := provision.Text(settings[name])
		if strings.ContainsAny(text, "\r\n") {
			return nil, nil, &provision.ErrSetting{Name: name, Reason: "its value must be one line"}
		}
		option, ok := strings.CutPrefix(name, prefix)
		switch {
		case !ok:
			server[name] = text
		case strings.HasPrefix(option, "XX:") && strings.ContainsAny(option, "+-"):
			options = append(options, "-"+option)
		case strings.HasPrefix(option, "XX:"), strings.HasPrefix(option, "D"):
			options = append(options, "-"+option+"="+text)
		case strings.HasPrefix(option, "X"):
			options = append(options, "-"+option+text)
		default:
			return nil, nil, &provision.ErrSetting{Name: name, Reason: "options of java begin with jvm.X, jvm.XX: or jvm.D, as in jvm.Xmx: 1g"}
		}
	}
	return server, options, nil
}

// Options returns the product's usual options of java, each unless one of the same kind was asked for. java refuses unknown
// options with a line that is shown. Temporary files, such as libraries that java unpacks, go to the node's directory: java
// ignores TMPDIR, and a killed java leaves them behind.
func Options(n *provision.Node, usual, asked []string) []string {
	usual = slices.DeleteFunc(append([]string{"-Djava.io.tmpdir=" + n.Temp()}, usual...), func(u string) bool {
		return slices.ContainsFunc(asked, func(a string) bool { return kind(a) == kind(u) })
	})
	return append(usual, asked...)
}

// Profiler is the one that comes with Java; with Profiled in the command line.
var Profiler = &provision.Profiler{Name: "Java Flight Recorder", File: "profile.jfr"}

// Profiled are the options of java that have it write the node's profile, if one is asked for.
func Profiled(n *provision.Node) []string {
	if n.Profile() == "" {
		return nil
	}
	return []string{"-XX:StartFlightRecording=settings=profile,dumponexit=true,filename=" + n.Profile()}
}

// Command runs java with the product's usual options, those that were asked for, and args: a main class and its arguments.
func Command(n *provision.Node, usual []string, args ...string) (provision.Command, error) {
	_, asked, err := Split(n.Cluster.Settings)
	return provision.Command{Path: "java", Args: slices.Concat(Profiled(n), Options(n, usual, asked), args)}, err
}

// kind returns the same text for two options that exclude each other.
func kind(option string) string {
	name, _, _ := strings.Cut(option, "=")
	switch {
	case strings.HasPrefix(name, "-XX:") && strings.HasSuffix(name, "GC"):
		return "collector"
	case strings.HasPrefix(name, "-XX:"):
		return strings.NewReplacer("+", "", "-", "").Replace(name)
	case strings.HasPrefix(name, "-Xm"):
		return name[:4]
	}
	return name
}
