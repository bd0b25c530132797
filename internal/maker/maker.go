// Package maker holds the load generators that come from the makers of brokers, such as RabbitMQ's PerfTest. A broker's product adds those
// that drive it: how the tool is installed, how a point becomes its command line, and what its output says. The figures are the tool's own.
package maker

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

// Tool is a load generator of a broker's maker.
type Tool struct {
	Name   string
	Broker string // that it drives; catalog.Add sets it
	// Recipe says how the tool is installed; Register completes it. Its first version is the one that runs.
	Recipe provision.Recipe
	// Command is how the installed tool is started with its arguments; its temporary files go to temp.
	Command func(install, temp string, args []string) (provision.Command, error)
	// Arguments are those that make the tool run a point. It refuses by name, with *driver.ErrUnsupported, points that the tool
	// doesn't support.
	Arguments func(p Point) ([]string, error)
	// Read reads the figures of a point off the tool's output; Figures asks the output whether they were there.
	Read func(p Point, o *Output) Figures
}

// Point is the load for a tool: messages to one topic, a number of them or for a time.
type Point struct {
	Addresses     []string // host:port of each node
	Topic         string   // exists already
	Subscriptions []string // of the topic, which exist already
	Partitions    int
	Producers     int
	Consumers     int           // of each subscription
	Messages      int64         // of all producers; 0: until For is over
	For           time.Duration // 0: until Messages are sent
	Rate          float64       // messages per second of all producers; 0: as fast as the tool can
	Size          int           // bytes of each payload
	InFlight      int           // messages that a producer may have unconfirmed
	Windowed      bool          // InFlight is not what specs have by default
	Guarantee     driver.Guarantee
	Client        map[string]any // settings that the spec gives, by their native names
	Kept          map[string]any // likewise of the topic, for a tool that has to say with each message what is kept
}

// Figures are what a tool says of a run.
type Figures struct {
	Sent                  int64   // messages of all producers; 0 if the tool doesn't say
	SendRate, ReceiveRate float64 // messages per second of all producers, and of all consumers; 0 if the tool doesn't say
	// Publish is the latency from send to confirmation, EndToEnd that from send to receipt: nanoseconds by statistic, "mean", "p50", "max".
	Publish, EndToEnd map[string]float64
}

// setting is the one setting of a tool's instance: its arguments as a JSON list.
const setting = "arguments"

var tools = map[string]Tool{}

// Register adds a tool with its recipe. It is called from init. It panics on a duplicate or incomplete one.
func Register(t Tool) {
	if _, dup := tools[t.Name]; dup || t.Broker == "" || t.Command == nil || t.Arguments == nil || t.Read == nil {
		panic("maker: registered twice or incomplete: " + t.Name)
	}
	r := &t.Recipe
	r.Broker, r.Part, r.Ends, r.MaxNodes = t.Name, true, true, 1
	r.Command = func(n *provision.Node) (provision.Command, error) {
		var args []string
		if err := json.Unmarshal([]byte(fmt.Sprint(n.Cluster.Settings[setting])), &args); err != nil {
			return provision.Command{}, fmt.Errorf("%s is started as the generator of a point: %w", t.Name, err)
		}
		return t.Command(n.Cluster.Install, n.Temp(), args)
	}
	provision.Register(*r)
	tools[t.Name] = t
}

// Lookup finds a tool; the error for an unknown name lists the known ones.
func Lookup(name string) (Tool, error) {
	t, ok := tools[name]
	if !ok {
		return t, fmt.Errorf("unknown generator %q%s; known: brokermark, %s", name, suggest.DidYouMean(name, Names()), strings.Join(Names(), ", "))
	}
	return t, nil
}

// Names lists the tools, sorted.
func Names() []string { return slices.Sorted(maps.Keys(tools)) }

// Version is that of the tool that runs.
func (t Tool) Version() string { return t.Recipe.Versions[0].Name }

// Options start the tool with arguments.
func (t Tool) Options(args []string) provision.Options {
	text, _ := json.Marshal(args) // of texts: never fails
	return provision.Options{Broker: t.Name, Server: map[string]any{setting: string(text)}}
}

// Refusal is what can be said against a point without a broker; nil: nothing.
func (t Tool) Refusal(broker string, p Point) error {
	if broker != t.Broker {
		return driver.Unsupported("generator: "+t.Name, "it drives %s", t.Broker)
	}
	_, err := t.Arguments(p)
	return err
}

// Figures reads the figures of a point off the last lines of the tool's output. It is an error if one that the tool prints isn't there.
func (t Tool) Figures(p Point, lines []string) (Figures, error) {
	o := &Output{lines: lines}
	f := t.Read(p, o)
	if f.SendRate <= 0 {
		o.fail("it says that nothing was sent")
	}
	for _, latency := range []map[string]float64{f.Publish, f.EndToEnd} {
		if len(latency) > 0 && slices.Max(slices.Collect(maps.Values(latency))) == 0 {
			o.fail("it says that nothing took any time")
		}
	}
	return f, o.err
}

// Only refuses the client settings that a tool has no word for: all but names.
func (p Point) Only(names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(p.Client)) {
		if slices.Contains(names, name) {
			continue
		}
		if len(names) == 0 {
			return driver.Unsupported("client."+name, "the tool has no such option")
		}
		return driver.Unsupported("client."+name, "the tool has no such option; allowed: %s", strings.Join(names, ", "))
	}
	return nil
}

// One refuses several partitions, subscriptions or producers for a tool that supports one.
func One(path string, n int) error {
	if n <= 1 {
		return nil
	}
	return driver.Unsupported(fmt.Sprintf("%s: %d", path, n), "the tool has 1")
}

// OrRate is the number of messages that a point sends: those that it asks for, or what its rate comes to.
func (p Point) OrRate() int64 {
	if p.Messages > 0 {
		return p.Messages
	}
	return int64(math.Round(p.Rate * p.For.Seconds()))
}

// WholeSeconds is the time of a point: tools take no parts of a second.
func (p Point) WholeSeconds() (string, error) {
	if p.For%time.Second != 0 {
		return "", driver.Unsupported(fmt.Sprintf("duration: %s", p.For), "the tool takes whole seconds")
	}
	return strconv.Itoa(int(p.For.Seconds())), nil
}

// EachRate is the rate of each producer: tools take whole numbers.
func (p Point) EachRate() (string, error) {
	each := p.Rate / float64(p.Producers)
	if each != float64(int64(each)) {
		return "", driver.Unsupported(fmt.Sprintf("load.rate: %v", p.Rate), "each of %d producers would send %v messages per second; the tool takes whole numbers", p.Producers, each)
	}
	return strconv.FormatInt(int64(each), 10), nil
}

// EachMessages is how many messages each producer sends.
func (p Point) EachMessages() (string, error) {
	if p.Messages%int64(p.Producers) != 0 {
		return "", driver.Unsupported(fmt.Sprintf("count.messages: %d", p.Messages), "%d producers can't share them evenly, which the tool takes for granted", p.Producers)
	}
	return strconv.FormatInt(p.Messages/int64(p.Producers), 10), nil
}

// Output is a tool's output. It is read strictly: a figure that is missing, or is no number, is an error and never 0.
type Output struct {
	lines []string
	err   error
}

// Last is the last line that a pattern matches, by its groups. If none does, all groups are empty and the output is in error.
func (o *Output) Last(pattern *regexp.Regexp) []string {
	for _, line := range slices.Backward(o.lines) {
		if m := pattern.FindStringSubmatch(line); m != nil {
			return m
		}
	}
	o.fail("it has no line like %.60s", pattern)
	return make([]string, pattern.NumSubexp()+1)
}

// Number reads a number, which may have commas between its thousands.
func (o *Output) Number(text string) float64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		o.fail("%q is no figure", text)
		return 0
	}
	return f
}

// Count reads a number of messages.
func (o *Output) Count(text string) int64 { return int64(o.Number(text)) }

// Numbers reads several numbers, times a factor, by names in their order.
func (o *Output) Numbers(texts []string, factor float64, names ...string) map[string]float64 {
	all := map[string]float64{}
	for i, name := range names {
		all[name] = factor * o.Number(texts[i])
	}
	return all
}

// fail keeps the first error: what follows from it says less.
func (o *Output) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf(format, args...)
	}
}
