// The answer of brokermark advise, which is a part of the recommend report: which contender to take for a workload, and the record of that
// decision.
//
//	Take jetstream. It carries 5k/s with an e2e p99 of 3.10 ms (2.80–3.60 ms) and …, and sustains 14.0× as much …
//
//	contender  answer     p99 at 5k/s             p99 at 15k/s            sustains  CPU broker  n
//	jetstream  take       3.10 ms [2.80–3.60 ms]  7.20 ms [6.90–8.00 ms]   70.1k/s      2.10 s  3

package reports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/usual"
)

// Advice is the answer in one screen.
func Advice(a advise.Advice) document.Document {
	d := document.Document{Title: "Advice"}
	addAnswer(&d, a)
	addGround(&d, a)
	return d
}

// addAnswer adds what was asked for, the answer, and the contenders.
func addAnswer(d *document.Document, a advise.Advice) {
	d.Say(requirement(a.Case))
	d.Add(document.Verdict{About: "Answer", Finding: answerText(a), Detail: otherTexts(a)})
	d.Add(contenderTable(a))
}

// addGround adds the doubts about the answer, and the settings to take.
func addGround(d *document.Document, a advise.Advice) {
	d.Say("CPU is in seconds per million messages; n counts the repetitions of the loads.")
	for _, j := range a.Leaders() {
		d.Say(doubtsLine(j.Name, j.Used))
	}
	taken := a.Lean
	if a.Answer == advise.Take || a.Answer == advise.Either {
		taken = a.Chosen[0]
	}
	if taken != nil && taken.Latest != nil {
		addMeans(d, taken.Name, *taken.Latest)
		addSettings(d, taken.Name, *taken.Latest)
	}
}

// Decision is the record of a decision: the answer, and all that it rests on. elsewhere are records of the same points from other machines
// and versions, which stand beside it.
func Decision(a advise.Advice, here, elsewhere []results.Record) (document.Document, error) {
	d := document.Document{Title: "Decision"}
	addAnswer(&d, a)
	if drawing, isMeasured := contenderDrawing(a); isMeasured {
		d.Add(drawing)
	}
	addGround(&d, a)
	set := results.Of(here)
	d.Add(document.Heading{Level: 1, Text: "Doubts"})
	d.Say(lists.Join(" ", statusSentence(set.Points), doubtsSentence(set.Points)))
	d.Add(document.Heading{Level: 1, Text: "How it was decided"})
	d.Say("A contender fits if the 95 % interval of its e2e p99 lies below the bound at every rate, and misses if it lies above at one. The intervals " +
		"are corrected for the number of contenders, rates and looks. Of those that fit, the one with the least broker CPU per message at the rate is " +
		"taken. Where costs differ by no more than a tenth, the latency decides, then the headroom. Nothing is extrapolated: each figure was measured, " +
		"and sustained rates were held for twice as long as the other loads.")
	if len(elsewhere) > 0 {
		d.Add(document.Heading{Level: 1, Text: "Measured elsewhere"})
		d.Say("Records of other machines, or of other versions, of the same points. They are not part of the answer.")
		d.Add(elsewhereTable(a, elsewhere))
	}
	d.Add(document.Heading{Level: 1, Text: "How to repeat it"})
	command, others := repeatCommand(a.Case)
	if command != "" {
		d.Add(document.Listing{Text: command})
	}
	if len(others) > 0 {
		d.Say(listSentence("It needs a file for contenders that a name alone doesn't describe: ", others, ", "))
	}
	for _, j := range a.Chosen {
		if j.Latest == nil {
			continue
		}
		spec, err := yamlOf(j.Latest.Spec)
		if err != nil {
			return d, fmt.Errorf("write the spec of %s as YAML: %w", j.Name, err)
		}
		d.Say("The complete spec of " + j.Name + " at the load:")
		d.Add(document.Listing{Text: spec})
	}
	return d, nil
}

// addAdvice adds the answers of which a set has the records, and returns their cases.
func addAdvice(d *document.Document, set *results.Set) (cases []*advise.Case, err error) {
	for _, decided := range advise.DecideAll(set.Records) {
		one, err := Decision(decided.Advice, decided.Here, decided.Elsewhere)
		if err != nil {
			return nil, err
		}
		d.Add(document.Heading{Level: 1, Text: "Which broker to take"})
		d.Add(one.Blocks...)
		cases = append(cases, decided.Case)
	}
	return cases, nil
}

// requirement says what was asked for.
func requirement(c *advise.Case) string {
	s := c.Spec
	peak := ""
	if len(s.Curve.Rates) > 1 {
		peak = ", peaks of " + results.RateText(s.Curve.Rates[1])
	}
	copies := "1 copy"
	if s.Replicas > 1 {
		copies = fmt.Sprintf("%d copies", s.Replicas)
	}
	return fmt.Sprintf("Asked for: %s%s, messages of %s, persistence %s, %s, %s, e2e p99 up to %s.", results.RateText(s.Curve.Rates[0]), peak,
		results.Point{Spec: s}.Setting(), s.Persistence, copies, unit.Counted(s.SubscriptionsPerTopic, "subscription"), unit.Nanoseconds.Format(c.Bound))
}

// oneWord matches values that are safe in a shell and can't be a flag: records may come from a stranger.
var oneWord = regexp.MustCompile(`^[A-Za-z0-9.+][A-Za-z0-9.,+-]*$`)

// brokerName is the name of a contender that is described by it alone.
var brokerName = regexp.MustCompile(`^[a-z0-9-]+(@[0-9.]+)?$`)

// attachedName is the name of a contender that --attach names: a broker at its addresses.
var attachedName = regexp.MustCompile(`^([a-z0-9-]+) at ([A-Za-z0-9.:,-]+)$`)

// repeatCommand returns the command that asks for it again, empty if it would do more than that, and the contenders that it doesn't name.
func repeatCommand(c *advise.Case) (command string, others []string) {
	s := c.Spec
	rates := s.Curve.Rates
	command = "brokermark advise"
	for _, flag := range [][2]any{
		{"rate", rates[0]},
		{"peak", rates[len(rates)-1]},
		{"size", s.MessageSize.Summary()},
		{"subscriptions", s.SubscriptionsPerTopic},
		{"delivery", s.Delivery},
		{"persistence", s.Persistence},
		{"p99", study.Duration(c.Bound)},
		{"hold", s.Duration},
	} {
		value := fmt.Sprint(flag[1])
		if !oneWord.MatchString(value) {
			return "", nil
		}
		command += fmt.Sprintf(" --%s %s", flag[0], value)
	}
	var named []string
	attached := ""
	for _, name := range c.Names {
		if at := attachedName.FindStringSubmatch(name); at != nil {
			attached += fmt.Sprintf(" --attach %s=%s", at[1], at[2])
		} else if brokerName.MatchString(name) {
			named = append(named, name)
		} else {
			others = append(others, name)
		}
	}
	if len(named) > 0 {
		command += " --brokers " + strings.Join(named, ",")
	}
	return command + attached, others
}

// doubtsLine counts the repetitions that ended ok, of a contender or a candidate, about which there are doubts, by class, in one line of a narrow terminal:
//
//	Doubts about jetstream (n=7): generator (3), machine (1).
func doubtsLine(about string, used []results.Record) string {
	const widest, widestName = 80, 24
	name := []rune(about)
	if len(name) > widestName {
		name = append(name[:widestName-1], '…')
	}
	start := fmt.Sprintf("Doubts about %s (n=%d): ", string(name), len(used))
	classes := strings.Split(cmp.Or(results.CountClasses(used), "none"), ", ")
	text := start + strings.Join(classes, ", ") + "."
	for shown := len(classes) - 1; utf8.RuneCountInString(text) > widest; shown-- {
		text = fmt.Sprintf("%s%s, and %d more.", start, strings.Join(classes[:shown], ", "), len(classes)-shown)
	}
	return text
}

// contenderTable has a row for each contender.
func contenderTable(a advise.Advice) document.Table {
	columns := []columnOf[*advise.Judged]{
		textColumn(document.Column{Key: "contender", Name: "contender", Identifies: true}, func(j *advise.Judged) string { return j.Name }),
		textColumn(document.Column{Key: "answer", Name: "answer"}, func(j *advise.Judged) string {
			if slices.Contains(a.Chosen, j) && a.Answer != advise.Undecided {
				return "take"
			}
			return string(j.Standing)
		}),
	}
	for i, rate := range a.Case.Spec.Curve.Rates {
		c := results.Column(results.KeyEndToEndP99)
		c.Key, c.Name = fmt.Sprintf("%s_%d", c.Key, i), "p99 at\n"+results.RateText(rate)
		c.Spread, c.Chart = true, document.Chart{Title: "e2e p99", Better: document.LessIsBetter}
		columns = append(columns, cellColumn(c, func(j *advise.Judged) document.Cell {
			return results.MustMetric(results.KeyEndToEndP99).Over(j.Loads[i]).Cell().Excluded(j.Standing == advise.Misses)
		}))
	}
	sustained := results.Column(results.KeySustainableLow)
	sustained.Chart = document.Chart{Title: "sustained"}
	columns = append(columns, cellColumn(sustained, func(j *advise.Judged) document.Cell { return results.Sustained(j.Searches).Cell() }))
	columns = append(columns, metricColumns([]string{results.KeyBrokerCPU, results.KeyBrokerRSS}, nil, func(j *advise.Judged, key string) document.Cell {
		return results.MustMetric(key).Over(j.Costs()).Cell()
	})...)
	columns = append(columns, repetitionsColumn(func(j *advise.Judged) int { return len(j.Loads[0]) }))
	return tableOf("", columns, a.Contenders)
}

// addMeans adds the native settings by which a broker kept the guarantee of a record.
func addMeans(d *document.Document, name string, r results.Record) {
	if means := usual.Of(r.Spec.Broker).Means; means != nil {
		d.Say(fmt.Sprintf("What makes %s keep %s, persistence %s:", lists.Join(" ", name, r.Versions.Broker), r.Spec.Delivery, r.Spec.Persistence))
		d.Add(document.Listing{Text: means(usual.Guarantee{
			Delivery: string(r.Spec.Delivery), Persistence: string(r.Spec.Persistence), Acks: string(r.Spec.Acks),
			Ordering: string(r.Spec.Ordering), Replicas: r.Spec.Replicas,
		})})
	}
}

// addSettings adds the settings of a record as they are pasted, those of the client without its defaults.
func addSettings(d *document.Document, name string, r results.Record) {
	settings := withValue(r.Settings)
	for prefix, values := range map[string]map[string]any{"client.": settings.Client, "topicConfig.": settings.Topic} {
		maps.DeleteFunc(values, func(name string, v any) bool {
			return fmt.Sprint(v) == usual.Of(r.Spec.Broker).Settings[prefix+name]
		})
	}
	text, err := yamlOf(settings)
	if err == nil && len(settings.Client)+len(settings.Server)+len(settings.Topic) > 0 {
		d.Say(fmt.Sprintf("Settings of %s, beside the defaults of broker and client:", lists.Join(" ", name, r.Versions.Broker)))
		d.Add(document.Listing{Text: text})
	}
	d.Add(pasted(r)...)
}

// elsewhereTable has a row for each contender on each other machine, version of this program and version of the broker.
func elsewhereTable(a advise.Advice, records []results.Record) document.Table {
	type row struct {
		where, broker string
		judged        *advise.Judged
	}
	var rows []row
	for _, g := range results.GroupBy(records, func(r results.Record) string {
		return fmt.Sprintf("%s, brokermark %s", r.Host.Name, r.Versions.Tool)
	}) {
		for _, j := range a.Case.Decide(g.Members).Contenders {
			if len(j.Costs()) > 0 {
				versions := map[string]bool{}
				for _, r := range j.Costs() {
					versions[r.Versions.Broker] = true
				}
				rows = append(rows, row{g.Name, strings.TrimSpace(j.Name + " " + strings.Join(slices.Sorted(maps.Keys(versions)), ", ")), j})
			}
		}
	}
	p99 := results.MustMetric(results.KeyEndToEndP99)
	return tableOf("", []columnOf[row]{
		textColumn(document.Column{Key: "where", Name: "where", Identifies: true}, func(r row) string { return r.where }),
		textColumn(document.Column{Key: "contender", Name: "contender", Identifies: true}, func(r row) string { return r.broker }),
		cellColumn(results.Column(p99.Key), func(r row) document.Cell { return p99.Over(r.judged.Costs()).Cell() }),
		cellColumn(results.Column(results.KeyBrokerCPU), func(r row) document.Cell {
			return results.MustMetric(results.KeyBrokerCPU).Over(r.judged.Costs()).Cell()
		}),
		repetitionsColumn(func(r row) int { return len(r.judged.Costs()) }),
	}, rows)
}
