package cli

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// completer suggests values for what has been typed of an argument.
type completer func(c *cobra.Command, typed string) []string

// complete gives the flags of a command and of those below it the values that they take.
func complete(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values := valuesOf(f)
		if _, set := c.GetFlagCompletionFunc(f.Name); values == nil || set {
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return begun(values(c, typed), typed), directive(f.Name)
		})
	})
	for _, below := range c.Commands() {
		complete(below)
	}
}

// directive keeps the cursor at the word where something follows it: an operator, or a value.
func directive(flag string) cobra.ShellCompDirective {
	if slices.Contains([]string{"set", "axis", "where", "fail-if"}, flag) {
		return cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return cobra.ShellCompDirectiveNoFileComp
}

// begun are the values that begin as typed.
func begun(values []string, typed string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !strings.HasPrefix(v, typed) })
}

func fixed(values []string) completer {
	return func(*cobra.Command, string) []string { return values }
}

// valuesOf is nil for flags that take anything.
func valuesOf(f *pflag.Flag) completer {
	switch f.Name {
	case "format":
		_, list, _ := strings.Cut(f.Usage, ": ")
		return fixed(strings.Split(list, ", "))
	case "latency":
		return fixed(results.LatencyNames())
	case "metric", "fail-if":
		return fixed(metricNames())
	case "where":
		return selections
	case "set", "axis":
		return settings
	}
	for _, a := range axisFlags {
		if a.name == f.Name {
			if words := closedSets()[a.path]; words != nil {
				return lists(words)
			}
		}
	}
	return nil
}

// closedSets are the words that settings allow, by their paths.
var closedSets = sync.OnceValue(func() map[string][]string {
	sets := map[string][]string{}
	for _, f := range study.Fields() {
		sets[f.Path] = f.Allowed
	}
	return sets
})

// lists completes the last of several values with commas between them.
func lists(allowed []string) completer {
	return func(_ *cobra.Command, typed string) []string {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		return prefixed(before, allowed)
	}
}

func prefixed(before string, values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = before + v
	}
	return out
}

func metricNames() []string {
	var names []string
	for _, m := range results.Metrics {
		names = append(names, m.Short())
	}
	return names
}

// settings are the paths that --set takes, those of the brokers that are named or else of all, and after "=" the words that
// a setting allows.
func settings(c *cobra.Command, typed string) []string {
	allowed := map[string][]string{}
	for _, f := range study.Fields() {
		allowed[f.Path] = f.Allowed
	}
	brokers := driver.Names()
	if f := c.Flags().Lookup("broker"); f != nil && f.Changed {
		brokers = strings.Split(f.Value.String(), ",")
	}
	for _, name := range brokers {
		name, _, _ = strings.Cut(name, "@")
		kind, err := driver.Lookup(name)
		if err != nil {
			continue // a typo: nothing to offer
		}
		for _, s := range kind.Settings {
			allowed[s.Path()] = s.Allowed
		}
	}
	if path, _, written := strings.Cut(typed, "="); written {
		return prefixed(path+"=", allowed[path])
	}
	var paths []string
	for path := range allowed {
		paths = append(paths, path+"=")
	}
	slices.Sort(paths)
	return paths
}

// selections completes the last term of a selection from what the store holds.
func selections(c *cobra.Command, typed string) []string {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	name, _, written := strings.Cut(typed[len(before):], "=")
	values := selectable(c)
	if written {
		return prefixed(before+name+"=", values[name])
	}
	var names []string
	for n, of := range values {
		if len(of) > 1 || slices.Contains([]string{"broker", "study", "status"}, n) { // the others select nothing
			names = append(names, before+n+"=")
		}
	}
	slices.Sort(names)
	return names
}

// selectable are the names and values of what the store holds; nothing where there is none.
func selectable(c *cobra.Command) map[string][]string {
	path := defaultStore
	if f := c.Flags().Lookup("store"); f != nil {
		path = f.Value.String()
	}
	ctx := c.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	records, err := readStore(ctx, path, "")
	if err != nil {
		return nil
	}
	return results.Selectable(records)
}

// sides are what compare takes: brokers of the store, and one value of what differs in it.
func sides(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	values := selectable(c)
	list := append(slices.Clone(values["broker"]), selections(c, typed)...)
	list = slices.DeleteFunc(list, func(s string) bool { return slices.Contains(args, s) })
	return begun(list, typed), cobra.ShellCompDirectiveNoSpace // or the file of another store
}

// runningBrokers are those that were started with up.
func (s *shell) runningBrokers(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	h, err := provision.NewHost(provision.DefaultDir(), nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, st := range h.Running() {
		if st.Detached {
			names = append(names, st.Broker, st.ID)
		}
	}
	slices.Sort(names)
	return begun(slices.Compact(names), typed), cobra.ShellCompDirectiveNoFileComp
}
