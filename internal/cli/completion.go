package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// completer returns the possible values of an argument. The caller drops those that don't begin as typed.
type completer func(c *cobra.Command, typed string) []string

// complete adds completion to those flags of a command, and of the commands below it, whose values are known.
func complete(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values := valuesOf(f)
		if values == nil {
			return
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if slices.Contains([]string{"set", "axis", "where", "fail-if"}, f.Name) { // an operator or a value follows
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return begun(values(c, typed), typed), directive
		})
	})
	for _, below := range c.Commands() {
		complete(below)
	}
}

// begun returns the values that begin as typed.
func begun(values []string, typed string) []string {
	return lists.Filter(values, func(v string) bool { return strings.HasPrefix(v, typed) })
}

func fixed(values []string) completer {
	return func(*cobra.Command, string) []string { return values }
}

// valuesOf returns the completer of a flag, or nil if it takes anything.
func valuesOf(f *pflag.Flag) completer {
	switch f.Name {
	case "format":
		_, list, _ := strings.Cut(f.Usage, ": ")
		return fixed(strings.Split(list, ", "))
	case "broker":
		return func(_ *cobra.Command, typed string) []string { return prefixed(uptoComma(typed), driver.Names()) }
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
		if allowed := allowedWords()[a.path]; a.name == f.Name && allowed != nil {
			return func(_ *cobra.Command, typed string) []string { return prefixed(uptoComma(typed), allowed) }
		}
	}
	return nil
}

// allowedWords returns the words that each setting of a spec allows, by its path.
var allowedWords = sync.OnceValue(func() map[string][]string {
	allowed := map[string][]string{}
	for _, f := range study.Fields() {
		allowed[f.Path] = f.Allowed
	}
	return allowed
})

// uptoComma returns the list before its last value: "kafka," of "kafka,na".
func uptoComma(typed string) string { return typed[:strings.LastIndexByte(typed, ',')+1] }

func prefixed(before string, values []string) []string {
	return lists.Map(values, func(v string) string { return before + v })
}

func metricNames() []string { return lists.Map(results.Metrics, results.Metric.Short) }

// settings returns the paths that --set takes, such as "client.acks=", or after "=" the words that the setting allows. The brokers'
// own are those of --broker, or of all brokers.
func settings(c *cobra.Command, typed string) []string {
	allowed := maps.Clone(allowedWords())
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
	return lists.Map(slices.Sorted(maps.Keys(allowed)), func(path string) string { return path + "=" })
}

// selections completes the last term of a selection from the store's values.
func selections(c *cobra.Command, typed string) []string {
	before := uptoComma(typed)
	name, _, written := strings.Cut(typed[len(before):], "=")
	values := selectable(c)
	if written {
		return prefixed(before+name+"=", values[name])
	}
	names := lists.Filter(slices.Sorted(maps.Keys(values)), func(n string) bool { // the others select nothing
		return len(values[n]) > 1 || slices.Contains([]string{"broker", "study", "status"}, n)
	})
	return lists.Map(names, func(n string) string { return before + n + "=" })
}

// selectable returns the names by which records of the store can be selected, with their values. Without a store it returns none.
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

// sides completes the arguments of compare: the brokers in the store, and selections.
func sides(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	values := selectable(c)
	list := append(slices.Clone(values["broker"]), selections(c, typed)...)
	list = slices.DeleteFunc(list, func(s string) bool { return slices.Contains(args, s) })
	return begun(list, typed), cobra.ShellCompDirectiveNoSpace // or the file of another store
}

// runningBrokers completes the brokers that were started with broker up.
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
