package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

// wishField is something that a user may wish for: a flag of advise, a key of a file and, with ask, a question in the terminal.
type wishField struct {
	name, usual, doc string
	path             string // of the setting of the spec that it is; "": wish reads it
	ask, why         string
}

const allBrokers = "all"

var wishFields = []wishField{
	{"rate", "1k", "messages per second over all producers, such as 5k", "", "How many messages per second are sent?", "every contender is measured at this rate"},
	{"peak", "2x", "the highest rate that must be carried, as a multiple or a rate: 3x, 15k", "", "How high are the peaks?", "a broker that carries the mean may fall behind at a peak"},
	{"size", "1KiB", "payload size, such as 1KiB", "messageSize", "How large is a message?", "large ones are limited by bytes, small ones by their number"},
	{"subscriptions", "1", "applications that each receive every message", "subscriptionsPerTopic", "How many applications receive each message?", "each further one is work for the broker"},
	{"delivery", "at-least-once", "guarantee: at-most-once, at-least-once, exactly-once", "delivery", "May a message be lost, or come twice (at-most-once, at-least-once, exactly-once)?", "a broker that can't promise it is ruled out"},
	{"persistence", "", "what an ack stands for: memory, log, fsync (default: memory at most once, else log)", "persistence", "", ""},
	{"p99", "100ms", "the most that the 99th percentile of the end-to-end latency may be, at both rates", "", "How late may the latest percent of the messages be?", "a broker that is later is ruled out"},
	{"brokers", "kafka,rabbitmq,nats,jetstream,redis", "contenders, as NAME or NAME@VERSION with commas between them, or all", "", "Which brokers may it be?", "each takes some minutes, and is installed if it isn't yet"},
	{"hold", "10s", "how long a repetition holds each rate", "", "", ""},
	{"time", "20m", "end after this long, installations not counted", "", "How long may it take?", "an answer needs repetitions"},
}

// wishes are the wishes of one command.
type wishes struct {
	flags  *pflag.FlagSet // wishFields and loginFlags
	attach []string       // NAME=ADDRESS, or NAME=ADDRESS,ADDRESS
	file   string         // "" without one
	lines  map[string]int // of the file, by key
	own    []advise.Contender
}

func (w *wishes) addFlags(f *pflag.FlagSet) {
	w.flags, w.lines = f, map[string]int{}
	for _, field := range wishFields {
		doc := field.doc
		if field.usual != "" {
			doc += fmt.Sprintf(" (default %s)", field.usual)
		}
		f.Var(new(once), field.name, doc)
	}
	f.StringArrayVar(&w.attach, "attach", nil, "a running broker as a contender, as `NAME=ADDRESS`, such as kafka=host:9092: driven to its limit, never killed; repeatable")
	addLoginFlags(f)
}

func (w *wishes) said() bool {
	named := func(f wishField) bool { return w.flags.Changed(f.name) }
	return w.file != "" || len(w.attach) > 0 || slices.ContainsFunc(wishFields, named)
}

func (w *wishes) value(name string) string {
	if text := w.flags.Lookup(name).Value.String(); text != "" {
		return text
	}
	if name == "persistence" {
		if w.value("delivery") == string(driver.AtMostOnce) {
			return string(driver.Memory)
		}
		return string(driver.Log)
	}
	i := slices.IndexFunc(wishFields, func(f wishField) bool { return f.name == name })
	return wishFields[i].usual
}

// where says where a wish was written: "wish.yaml:3", or "--rate 5k".
func (w *wishes) where(name string) string {
	if line := w.lines[name]; line > 0 {
		return fmt.Sprintf("%s:%d: %s", w.file, line, name)
	}
	return "--" + name + " " + shellWord(w.value(name))
}

func (w *wishes) bad(name string, err error) error { return badInput("%s: %w", w.where(name), err) }

// read reads a file with the wishes that no flag gives.
func (w *wishes) read(name string) error {
	w.file = name
	data, err := bounded.File(name, maxDocument)
	if err != nil {
		return cannotRead("file of wishes "+name, err)
	}
	root, err := study.Tree(name, data)
	switch {
	case err != nil:
		return err
	case root == nil || root.Kind != yaml.MappingNode:
		return badInput("%s: no wishes; allowed: a mapping such as rate: 5k", name)
	}
	for pair := range slices.Chunk(root.Content, 2) {
		if err := w.take(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func (w *wishes) take(key, value *yaml.Node) error {
	known := append([]string{"attach"}, lists.Map(wishFields, func(f wishField) string { return f.name })...)
	at := fmt.Sprintf("%s:%d: %s", w.file, key.Line, key.Value)
	switch {
	case !slices.Contains(known, key.Value):
		return badInput("%s: unknown key; allowed: %s%s", at, strings.Join(known, ", "), suggest.DidYouMean(key.Value, known))
	case w.lines[key.Value] > 0:
		return badInput("%s: given twice, first on line %d", at, w.lines[key.Value])
	case w.flags.Changed(key.Value):
		return nil
	}
	items := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode && (key.Value == "brokers" || key.Value == "attach") {
		items = value.Content
	}
	var words []string
	for _, n := range items {
		switch {
		case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
			words = append(words, n.Value)
		case n.Kind == yaml.MappingNode && key.Value == "brokers":
			plain, err := study.Plain(w.file, n)
			if err != nil {
				return err
			}
			c := advise.Contender{Line: n.Line}
			called, _ := plain.(map[string]any)["name"].(string)
			c.Name = strings.TrimSpace(render.Line(called))
			c.Set, _ = plain.(map[string]any)["set"].(map[string]any)
			if c.Name == "" || c.Set["broker"] == nil {
				return badInput("%s:%d: brokers: no contender; allowed: a broker's name, or {name: mine, set: {broker: kafka, client: {linger.ms: 0}}}", w.file, n.Line)
			}
			if _, err := json.Marshal(c.Set); err != nil {
				return badInput("%s:%d: brokers: %s holds a value that no setting has, such as .inf", w.file, n.Line, c.Name)
			}
			for _, f := range wishFields {
				if _, given := c.Set[f.path]; given { // a contender that doesn't agree with the wish would be left out
					return badInput("%s:%d: brokers: %s: %s is the same for all contenders; allowed: %s at the top of the file, or --%[5]s", w.file, n.Line, c.Name, f.path, f.name)
				}
			}
			w.own = append(w.own, c)
		default:
			return badInput("%s: %s; allowed: one value", at, study.Seen(n))
		}
	}
	w.lines[key.Value] = key.Line
	if key.Value == "attach" {
		w.attach = words
		return nil
	}
	return w.flags.Set(key.Value, strings.Join(words, ","))
}

// ask asks for the wishes. An empty line is the default.
func (w *wishes) ask(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for _, f := range wishFields {
		if f.ask == "" {
			continue
		}
		fmt.Fprintf(out, "%s [%s]\n  %s: ", f.ask, f.usual, f.why)
		if !lines.Scan() {
			return cmp.Or(lines.Err(), badInput("the questions were not answered"))
		}
		if err := w.flags.Set(f.name, cmp.Or(strings.TrimSpace(lines.Text()), f.usual)); err != nil {
			return badInput("%s: %w", f.name, err)
		}
	}
	return nil
}

// wish reads all of them, and how long the answer may take.
func (w *wishes) wish() (wish advise.Wish, limit time.Duration, err error) {
	if w.value("rate") == "" || !w.flags.Changed("rate") {
		return wish, 0, hinted(badInput("--rate is missing: the messages per second that have to be carried"), "brokermark advise --rate 5k --peak 3x --size 1KiB --p99 20ms")
	}
	read := func(name string, read func(text string) error) {
		if err == nil {
			if e := read(w.value(name)); e != nil {
				err = w.bad(name, e)
			}
		}
	}
	span := func(into *time.Duration) func(string) error {
		return func(text string) error {
			d, err := study.ParseDuration(text)
			*into = time.Duration(d)
			return err
		}
	}
	read("rate", func(text string) (err error) { wish.Rate, err = study.ParseRate(text); return err })
	read("peak", func(text string) (err error) { wish.Peak, err = readPeak(text, wish.Rate); return err })
	read("p99", span(&wish.P99))
	read("hold", span(&wish.Hold))
	read("time", span(&limit))
	for _, f := range wishFields {
		if f.path != "" {
			wish.Settings = append(wish.Settings, advise.Setting{Flag: w.where(f.name), Path: f.path, Value: w.value(f.name)})
		}
	}
	if err != nil {
		return wish, 0, err
	}
	if w.value("subscriptions") == "0" {
		return wish, 0, w.bad("subscriptions", errors.New("without a subscription nothing is received, so there is no latency; allowed: at least 1"))
	}
	if wish.Contenders, err = w.contenders(); err != nil {
		return wish, 0, err
	}
	if err := wish.Check(); err != nil {
		name, why, _ := strings.Cut(err.Error(), ": ")
		return wish, 0, w.bad(name, errors.New(why))
	}
	return wish, limit, nil
}

// readPeak reads a multiple of the rate, or a rate.
func readPeak(text string, rate float64) (float64, error) {
	times, isMultiple := strings.CutSuffix(strings.TrimSuffix(text, "×"), "x")
	if isMultiple || strings.HasSuffix(text, "×") {
		if n, err := strconv.ParseFloat(times, 64); err == nil {
			return n * rate, nil
		}
	}
	peak, err := study.ParseRate(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no multiple and no rate; allowed: such as 3x or 15k", text)
	}
	return peak, nil
}

// jvmWarmup is how long a broker on a JVM, which compiles while it runs, is driven before it is measured. Kafka on two cores, at 10k/s, took
// 107 s of the processor per million messages after 8 s, 58 s after 30 s, and 46 s after a minute.
const jvmWarmup = "60s"

// contenders are those of --brokers, then those with settings of their own, then those that are attached.
func (w *wishes) contenders() ([]advise.Contender, error) {
	var all []advise.Contender
	names := strings.Split(w.value("brokers"), ",")
	switch {
	case w.flags.Changed("brokers") && w.flags.Lookup("brokers").Value.String() == "":
		names = nil // a file has none but those with settings
	case w.value("brokers") == allBrokers:
		names = provable()
	case !w.flags.Changed("brokers") && len(w.own)+len(w.attach) > 0:
		names = nil // what was said is what is wanted
	}
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, advise.Contender{Name: name, Set: map[string]any{"broker": name}})
		}
	}
	all = append(all, w.own...)
	for _, text := range w.attach {
		broker, addresses, ok := strings.Cut(text, "=")
		if !ok || addresses == "" {
			return nil, badInput("--attach %s: no contender; allowed: NAME=ADDRESS, such as kafka=host:9092", text)
		}
		set := map[string]any{"broker": broker, "attach": strings.Split(addresses, ",")}
		for _, l := range loginFlags {
			if !w.flags.Changed(l.name) {
				continue
			}
			if len(w.own) > 0 { // whose file may be a stranger's
				return nil, badInput("%s:%d: brokers: %s has settings of its own, which can't be combined with a login (--%s); allowed: a broker's name, or no login",
					w.file, w.own[0].Line, w.own[0].Name, l.name)
			}
			set[l.path] = w.flags.Lookup(l.name).Value.String()
		}
		all = append(all, advise.Contender{Name: broker + " at " + addresses, Set: set})
	}
	if len(all) > advise.MostContenders {
		return nil, w.bad("brokers", fmt.Errorf("%d contenders; allowed: up to %d", len(all), advise.MostContenders))
	}
	durable := w.value("persistence") != string(driver.Memory) && w.value("delivery") != string(driver.AtMostOnce)
	seen := map[string]bool{}
	for i, c := range all {
		name, _, _ := strings.Cut(fmt.Sprint(c.Set["broker"]), "@")
		if _, err := driver.Lookup(name); err != nil {
			return nil, w.bad("brokers", fmt.Errorf("%w%s", err, suggest.DidYouMean(name, driver.Names())))
		}
		if seen[c.Name] {
			return nil, w.bad("brokers", fmt.Errorf("%s is given twice", c.Name))
		}
		seen[c.Name] = true
		recipe, started := catalog.Started(name)
		all[i].Killable = durable && started && c.Set["attach"] == nil
		switch _, given := c.Set["brokerWarmup"]; {
		case !started:
			c.Set["brokerWarmup"] = "0s"
		case recipe.Memory != "" && !given && c.Set["attach"] == nil:
			c.Set["brokerWarmup"] = jvmWarmup
		}
	}
	return all, nil
}
