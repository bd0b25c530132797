package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/usual"
	"github.com/brokermark/brokermark/reports"
)

func (s *shell) listCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "list brokers | studies | reports | metrics | settings [BROKER] | guarantees [BROKER]",
		Short:   "List what there is",
		Example: "  brokermark list brokers\n  brokermark list settings kafka\n  brokermark list guarantees kafka",
		Args:    cobra.ArbitraryArgs,
		RunE:    group,
	}
	c.PersistentFlags().StringVar(&format, "format", "table", "output: "+strings.Join(documentFormats, ", "))
	add := func(use, short string, args cobra.PositionalArgs, make func(args []string) (document.Document, error)) *cobra.Command {
		sub := &cobra.Command{
			Use: use, Short: short, Args: arguments(args),
			RunE: func(_ *cobra.Command, args []string) error {
				d, err := make(args)
				if err != nil {
					return err
				}
				if format == "table" || format == "markdown" { // for people
					d = condensed(d)
				}
				return s.write(d, format)
			},
		}
		c.AddCommand(sub)
		return sub
	}
	add("brokers", "Brokers that can be measured, with their versions", cobra.NoArgs, listBrokers)
	add("studies", "Studies that come with the program", cobra.NoArgs, listStudies)
	add("reports", "Reports over stored results", cobra.NoArgs, listReports)
	add("metrics", "Figures that --fail-if, --metric, objectives and exports know", cobra.NoArgs, listMetrics)
	byClass := false
	settings := add("settings [BROKER]", "Settings of a spec, or a broker's client and topic settings", cobra.MaximumNArgs(1), func(args []string) (document.Document, error) {
		if byClass {
			return settingsByClass(args)
		}
		return listSettings(args)
	})
	settings.Flags().BoolVar(&byClass, "by-class", false, "defaults of all brokers side by side: acknowledgements, windows, batches, threads, memory")
	guarantees := add("guarantees [BROKER]", "Which guarantees a broker keeps, by which settings, and which it doesn't", cobra.MaximumNArgs(1), listGuarantees)
	brokers := cobra.FixedCompletions(driver.Names(), cobra.ShellCompDirectiveNoFileComp)
	settings.ValidArgsFunction, guarantees.ValidArgsFunction = brokers, brokers
	return c
}

func listBrokers([]string) (document.Document, error) {
	d := document.Document{Title: "Brokers"}
	t := document.Table{Columns: []document.Column{
		{Key: "broker", Name: "broker", Identifies: true},
		{Key: "versions", Name: "versions, the default first"},
		{Key: "client", Name: "client"},
		{Key: "nodes", Name: "nodes,\nat most", Unit: unit.Count},
		{Key: "tls", Name: "TLS"},
		{Key: "doubt", Name: "doubted", Wide: true},
	}}
	for _, name := range driver.Names() {
		p, err := catalog.Lookup(name)
		if err != nil {
			return d, err
		}
		r := p.Recipe
		if r == nil {
			t.AddWords(name, "in this process", p.Driver.Client)
			continue
		}
		var versions, doubts []string
		for _, v := range r.Versions {
			versions = append(versions, v.Name)
			if v.Doubt != "" && !slices.Contains(doubts, v.Doubt) {
				doubts = append(doubts, v.Doubt)
			}
		}
		tls := "no"
		switch {
		case r.Mutual:
			tls = "yes, mutual too"
		case r.TLS:
			tls = "yes"
		}
		t.AddRow(document.Text(name), document.Text(strings.Join(versions, ", ")), document.Text(p.Driver.Client),
			document.Number(r.MaxNodes), document.Text(tls), document.Text(strings.Join(doubts, "; ")))
	}
	d.Add(t)
	return d, nil
}

func listStudies([]string) (document.Document, error) {
	d := document.Document{Title: "Studies"}
	t := document.Table{Columns: []document.Column{
		{Key: "study", Name: "study", Identifies: true},
		{Key: "question", Name: "question", Wide: true},
		{Key: "points", Name: "points", Unit: unit.Count},
		{Key: "full", Name: "with\n--scale full", Unit: unit.Count},
		{Key: "repeats", Name: "repeats", Unit: unit.Count},
		{Key: "source", Name: "source"},
	}}
	for _, name := range studyNames() {
		s, err := embeddedStudy(name)
		if err != nil {
			return d, err
		}
		full, err := s.Points()
		if err != nil {
			return d, err
		}
		if err := s.Scale(s.UsualScale()); err != nil {
			return d, err
		}
		points, err := s.Points()
		if err != nil {
			return d, err
		}
		t.AddRow(document.Text(name), document.Text(s.Question),
			document.Number(len(points)), document.Number(len(full)), document.Number(s.Repeats), document.Text(s.Source))
	}
	d.Add(t)
	return d, nil
}

func embeddedStudy(name string) (*study.Study, error) {
	data, folder, err := readStudy(name)
	if err != nil {
		return nil, err
	}
	return parseStudy(name+".yaml", data, folder)
}

func listReports([]string) (document.Document, error) {
	d := document.Document{Title: "Reports"}
	t := document.Table{Columns: []document.Column{{Key: "report", Name: "report", Identifies: true}, {Key: "shows", Name: "shows", Wide: true}}}
	for _, r := range reports.All() {
		t.AddWords(r.Name, r.Doc)
	}
	d.Add(t)
	return d, nil
}

func listMetrics([]string) (document.Document, error) {
	d := document.Document{Title: "Metrics"}
	t := document.Table{Columns: []document.Column{
		{Key: "metric", Name: "metric", Identifies: true}, {Key: "key", MachinesOnly: true}, {Key: "shows", Name: "what it is", Wide: true},
	}}
	for _, m := range results.Metrics {
		t.AddWords(m.Short(), m.Key, m.Meaning())
	}
	d.Add(t)
	return d, nil
}

func listSettings(args []string) (document.Document, error) {
	columns := []document.Column{
		{Key: "setting", Name: "setting", Identifies: true},
		{Key: "default", Name: "default", Wide: true},
		{Key: "allowed", Name: "allowed", Wide: true},
		{Key: "doc", Name: "what it is", Wide: true},
	}
	if len(args) == 1 {
		tries := document.Column{Key: "tries", Name: "tune tries", Wide: true}
		return brokerSettings(args[0], slices.Insert(columns, 2, tries))
	}
	d := document.Document{Title: "Settings of a spec"}
	t := document.Table{Columns: columns}
	for _, f := range study.Fields() {
		allowed := f.Type
		if len(f.Allowed) > 0 {
			allowed = strings.Join(f.Allowed, ", ")
		}
		doc := f.Doc
		if len(f.Also) > 0 {
			doc += " (also " + strings.Join(f.Also, ", ") + ")"
		}
		t.AddWords(f.Path, f.Default, allowed, doc)
	}
	d.Add(t)
	return d, nil
}

// alike is from how many rows on that differ in their names only a table is shorter without them.
const alike = 4

// condensed says once what many rows of a table of settings say.
func condensed(d document.Document) document.Document {
	out := document.Document{Title: d.Title}
	for _, b := range d.Blocks {
		t, ok := b.(document.Table)
		if !ok || !slices.ContainsFunc(t.Columns, func(c document.Column) bool { return c.Key == "doc" }) {
			out.Add(b)
			continue
		}
		same := map[string][]string{} // the names of rows that say the same
		says := func(r document.Row) string {
			return strings.Join([]string{r["default"].Text, r["tries"].Text, r["allowed"].Text, r["doc"].Text}, "\x00")
		}
		for _, r := range t.Rows {
			same[says(r)] = append(same[says(r)], r["setting"].Text)
		}
		var said []document.Block
		rows := t.Rows
		t.Rows = nil
		for _, r := range rows {
			names := same[says(r)]
			if len(names) < alike {
				t.Rows = append(t.Rows, r)
			} else if names[0] == r["setting"].Text {
				said = append(said, document.Paragraph{Text: r["doc"].Text + ": " + strings.Join(names, ", ") + "."})
			}
		}
		out.Add(t)
		out.Add(said...)
	}
	return out
}

// brokerSettings lists client and topic settings; those of the server are the server's own and checked by its recipe.
func brokerSettings(name string, columns []document.Column) (document.Document, error) {
	kind, err := driver.Lookup(name)
	if err != nil {
		return document.Document{}, badInput("%w%s", err, suggest.DidYouMean(name, driver.Names()))
	}
	d := document.Document{Title: "Settings of " + name}
	t := document.Table{Columns: columns}
	settings := slices.SortedStableFunc(slices.Values(kind.Settings), func(a, b driver.Setting) int {
		return strings.Compare(string(a.Scope), string(b.Scope))
	})
	for _, s := range settings {
		allowed := map[string]string{"int64": "whole number", "float64": "number", "bool": "true or false", "time.Duration": "time"}[fmt.Sprintf("%T", s.Default)]
		if len(s.Allowed) > 0 {
			allowed = strings.Join(s.Allowed, ", ")
		}
		t.AddWords(s.Path(), fmt.Sprint(s.Default), strings.Join(s.Tries, ", "), allowed, s.Doc)
	}
	d.Add(t)
	d.Say("Logs in to an attached broker (--login) by: " + kind.WaysIn() + ".")
	d.Say("Server settings (server.NAME) go to the broker by their native names; unknown ones are refused when it is started.")
	if tuning := slices.Clone(usual.Of(name).Tuning); len(tuning) > 0 {
		if r, started := catalog.Started(name); started && r.Memory != "" {
			tuning = append(tuning, "and java's memory, collectors and threads (jvm.Xmx, jvm.XX:+UseZGC)")
		}
		d.Say("Those that a document may give without --trust-spec: " + strings.Join(tuning, ", ") + ".")
	}
	return d, nil
}

// settingsByClass lists the defaults of all brokers side by side, with the principle that decides about each class
// (decision 043).
func settingsByClass(args []string) (document.Document, error) {
	if len(args) > 0 {
		return document.Document{}, badInput("--by-class shows all brokers; it takes no BROKER")
	}
	d := document.Document{Title: "Defaults side by side"}
	for _, class := range driver.Classes {
		err := addClass(&d, string(class), class.Principle(), func(p catalog.Product) string { return ofClass(p.Driver, class) })
		if err != nil {
			return d, err
		}
	}
	const memory = "Memory and collector are those of the product's own start script; where that differs, its page in brokers/ says why."
	err := addClass(&d, "memory and collector of the broker", memory, func(p catalog.Product) string {
		return cmp.Or(p.Recipe.Memory, "no bound of its own")
	})
	return d, err
}

func addClass(d *document.Document, name, principle string, of func(catalog.Product) string) error {
	d.Add(document.Heading{Level: 1, Text: results.Capital(name)})
	d.Say(principle)
	t := document.Table{Columns: []document.Column{
		{Key: "class", MachinesOnly: true}, {Key: "broker", Name: "broker", Identifies: true}, {Key: "defaults", Name: "defaults", Wide: true},
	}}
	for _, broker := range catalog.Names() {
		p, err := catalog.Lookup(broker)
		if err != nil {
			return err
		}
		if p.Recipe != nil { // a broker, no model of one
			t.AddWords(name, broker, of(p))
		}
	}
	d.Add(t)
	return nil
}

// ofClass returns the settings of a class with their defaults, or why the driver has none.
func ofClass(k driver.Kind, class driver.Class) string {
	settings := lists.Filter(k.Settings, func(s driver.Setting) bool { return s.Class == class })
	said := lists.Map(settings, func(s driver.Setting) string { return fmt.Sprintf("%s %v", s.Name, s.Default) })
	return lists.Join("; ", append(said, k.Without[class])...)
}
