package study

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/suggest"
)

// Study is a question and the points that answer it. Repeats may be set directly; specs and axes change through Set,
// SetAxis and Quick. It is not safe for concurrent use.
type Study struct {
	Name        string
	Question    string
	Description string
	Source      string   // where a published study can be found
	Repeats     int      // of every point, at least 1; with Until at most
	Until       float64  // half the width of an interval, as a share of the median, at which a point has enough repetitions; 0: none
	Seed        int64    // of the order of points; 0: each run draws one
	File        string   // as given to Parse
	Notes       []string // how keys of the OpenMessaging Benchmark were read
	Distrusted  bool     // the document may be a stranger's: it must neither run code nor read or send files and secrets of this machine
	Files       fs.FS    // the study's folder: payloads that its document names are in it; nil: they are looked for around File
	Published   []Published
	Exhibits    []Exhibit

	base    layer
	sweeps  []sweep
	scales  []scale
	at      string // the scale; "" is Full
	quick   bool
	metrics []named           // of published tables and exhibits
	flags   map[string]string // which flag gave a setting, by its path; as typed
}

// sweep is one cross product of axes; a study has one, or several that share its base.
type sweep struct {
	name    string // "" where there is only one
	set     layer
	axes    []axis
	exclude []rule
	scaled  layer // from the scale
	over    layer // from flags
	single  bool  // one explicit point: set tells it from its neighbours
}

// Ranks of the layers a point is made of.
const (
	rankBase = iota
	rankSweep
	rankAxes
	rankScale
	rankFlags
)

// New is a study of one point with nothing but defaults.
func New(name string) *Study {
	return &Study{Name: name, Repeats: 1, sweeps: []sweep{{}}, flags: map[string]string{}}
}

// Clone returns the same study, which changes by itself.
func (s *Study) Clone() *Study {
	c := *s
	c.sweeps, c.flags = slices.Clone(s.sweeps), maps.Clone(s.flags)
	return &c
}

// studyKeys are the keys of a study document that are no settings of a spec.
var studyKeys = []string{"question", "description", "source", "repeats", "base", "axes", "exclude", "sweeps", "points", "scales", "published", "exhibits"}

const maxDocument = 8 << 20 // bytes

// Parse reads a study document, a spec (a study of one point) or an OpenMessaging Benchmark workload file. name is used
// in complaints, and its folder to find payload files. Everything wrong with the document is reported together, as
// *Errors; impossible combinations of settings are found by Points.
//
//	question: Do large batches pay?          # also name, description, source, repeats, seed
//	base: {size: 500, measure: peak}         # or the settings at the top level
//	axes:                                    # every combination is a point
//	  partitions: [5, 15]
//	  client.batch.size: {from: 10000, to: 200000, step: 10000}      # or factor
//	  guarantee:                             # a choice of several settings
//	  - {name: loose, set: {delivery: at-most-once}}
//	  - {name: safe, set: {delivery: at-least-once}}
//	exclude: [{guarantee: safe, partitions: [5, 15]}]                # combinations that are no points
//	sweeps:                                  # several cross products; each has the axes above too
//	- {name: kafka, set: {broker: kafka}, axes: {client.linger.ms: [0, 5]}, exclude: []}
//	points: [{broker: nats, size: 8}]        # further points, one by one
//	scales:                                  # other sizes of the same study, see Scale
//	  quick: {repeats: 2, set: {duration: 3s}, axes: {partitions: [5]}, sweeps: {kafka: {set: {warmup: 1s}}}}
//	published:                               # a paper's tables, beside the points of a sweep
//	- {file: published/a.csv, experiment: kafka, axes: {client.linger.ms: linger}, metrics: {publish_rate: msg_per_s}}
//	exhibits:                                # a paper's figures, in its order
//	- {title: Figure 1, experiment: kafka, rows: client.linger.ms, columns: [publish_rate]}
func Parse(name string, data []byte) (*Study, error) {
	d := decoder{problems: &problems{}, file: name}
	root, err := document(name, data)
	if err != nil {
		return nil, err
	}
	s := New(nameOf(name))
	s.File = name
	s.decode(d, root)
	if err := d.err(); err != nil {
		return nil, err
	}
	s.Notes = d.notes
	return s, nil
}

// nameOf is the name of a study that says none: its file's, or its folder's where the file is study.yaml.
func nameOf(file string) string {
	base := filepath.Base(file)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if dir := filepath.Base(filepath.Dir(file)); name == "study" && dir != "." && dir != "/" {
		return dir
	}
	return name
}

var syntaxLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// Tree parses a document that may be a stranger's, for which nothing else decodes YAML: yaml.v3 compares every key of a mapping with every other
// one when it decodes into anything but a node. It takes time and memory in proportion to the document, which it bounds. An empty document has
// no tree: nil.
func Tree(name string, data []byte) (*yaml.Node, error) {
	if len(data) > maxDocument {
		return nil, refusal(name, 0, "larger than %s: that is no study", Size(maxDocument))
	}
	if n := bytes.Count(data, []byte(",")) + bytes.Count(data, []byte("\n")); n > maxValues {
		return nil, refusal(name, 0, "%d values or lines; allowed: %d", n, maxValues) // each takes some 500 bytes
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil, nil
	case err != nil:
		m := syntaxLine.FindStringSubmatch(err.Error())
		line, unsaid := strconv.Atoi(m[1])
		if unsaid != nil {
			line = unreadableLine(data)
		}
		if text, tab := indentedByTab(data); tab > 0 {
			return nil, refusal(name, tab, "not YAML: a tab indents %s; allowed: spaces", text)
		}
		return nil, refusal(name, line, "not YAML: %s", strings.TrimPrefix(err.Error(), m[0]))
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, refusal(name, second.Line, "a second document; a file holds one")
	}
	root := resolve(doc.Content[0])
	switch n := spelledOut(root, map[*yaml.Node]extent{}); {
	case n.values > maxValues:
		return nil, refusal(name, 0, "more than %d values where each alias stands for its anchor; allowed: %[1]d", maxValues)
	case n.depth > maxDepth:
		return nil, refusal(name, 0, "%d levels of lists and mappings; allowed: %d", n.depth, maxDepth)
	}
	if err := crowded(name, "", root); err != nil {
		return nil, err
	}
	return root, nil
}

// Plain returns what a node of a Tree stands for: values, lists, and mappings by the texts of their keys. Each key stands once in a mapping.
func Plain(name string, n *yaml.Node) (any, error) {
	d := decoder{problems: &problems{}, file: name}
	value := d.plain(n)
	return value, d.err()
}

func (d decoder) plain(n *yaml.Node) (value any) {
	switch n = resolve(n); n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for _, p := range d.pairs(n, "") {
			m[p.key] = d.plain(p.value)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = d.plain(item)
		}
		return list
	}
	if n.Decode(&value) != nil {
		d.add(d.at(n), "", "%s is not what its tag says", Seen(n))
	}
	return value
}

// document finds the one mapping of a document.
func document(name string, data []byte) (*yaml.Node, error) {
	root, err := Tree(name, data)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return nil, refusal(name, 0, "empty; a study says at least what is measured, such as measure: peak")
	case root.Kind != yaml.MappingNode:
		return nil, refusal(name, root.Line, "%s is not a study; allowed: a mapping of settings", Seen(root))
	}
	return root, nil
}

// weight is for how many values a text counts: a long one may stand for much by aliases, and in many points.
func weight(text string) int { return 1 + len(text)/256 }

// extent is how many values a node has, and how many levels.
type extent struct{ values, depth int }

// spelledOut is the extent of n where each alias is what it stands for. It has maxValues+1 for more values, and for a node that stands for itself.
func spelledOut(n *yaml.Node, known map[*yaml.Node]extent) (e extent) {
	if there, ok := known[n]; ok {
		return there
	}
	known[n] = extent{values: maxValues + 1} // until it is known: so an anchor in itself is endless
	switch n.Kind {
	case yaml.ScalarNode:
		e.values = weight(n.Value)
	case yaml.AliasNode:
		e = spelledOut(n.Alias, known)
	case yaml.MappingNode:
		e.values = -len(n.Content) / 2 // names are no values, unless they are long
	}
	for _, c := range n.Content {
		inner := spelledOut(c, known)
		e = extent{min(e.values+inner.values, maxValues+1), max(e.depth, inner.depth+1)}
	}
	e.values = max(e.values, 1) // of an empty list, too
	known[n] = e
	return e
}

// mostOf is how many elements a list or a mapping may have, by its key; of others it is maxElements. Axes, sweeps and rules are
// multiplied with one another.
var mostOf = map[string]int{"points": maxPoints, "axes": maxParts, "sweeps": maxParts, "exclude": maxParts}

const (
	maxValues   = 2 * maxPoints
	maxElements = maxSpan
	maxParts    = 200
	maxDepth    = 32
	maxKey      = 250 // bytes: the path of a value has all keys above it
)

// crowded refuses a list or a mapping with more elements than a study has use for, and keys that are longer or no line, anywhere below n, which
// stands at key.
func crowded(name, key string, n *yaml.Node) error {
	if len(key) > maxKey {
		return refusal(name, n.Line, "a key of %d bytes; allowed: %d", len(key), maxKey)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return refusal(name, n.Line, "%q: a key is one line, without control characters", key)
	}
	each := 1
	if n.Kind == yaml.MappingNode {
		each = 2
	}
	if most := cmp.Or(mostOf[key], maxElements); len(n.Content)/each > most {
		return refusal(name, n.Line, "%s: %d elements; allowed: %d", cmp.Or(key, "the document"), len(n.Content)/each, most)
	}
	for i, c := range n.Content {
		inner := ""
		if each == 2 && i%2 == 1 {
			inner = n.Content[i-1].Value
		}
		if err := crowded(name, inner, c); err != nil {
			return err
		}
	}
	return nil
}

// unreadableLine finds the first line with bytes that are no characters of YAML; 1 where there is none. The parser says no line
// for those, nor for what it misses in the first one.
func unreadableLine(data []byte) int {
	line := 0
	for l := range bytes.Lines(data) {
		line++
		if !utf8.Valid(l) || bytes.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) }) {
			return line
		}
	}
	return 1
}

// indentedByTab finds the first line that a tab indents; 0 where none does.
func indentedByTab(data []byte) (text string, line int) {
	for l := range strings.Lines(string(data)) {
		line++
		text = strings.TrimSpace(l)
		if indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]; text != "" && strings.Contains(indent, "\t") {
			return text, line
		}
	}
	return "", 0
}

func (s *Study) decode(d decoder, root *yaml.Node) {
	var axes []axis
	var exclude []rule
	d.metrics = &s.metrics
	flat := d.layer(root, "", "", slices.Concat(studyKeys, d.forkKeys(root))).listed()
	nodes := map[string]*yaml.Node{}
	for _, p := range (decoder{problems: &problems{}, file: d.file}).pairs(root, "") {
		nodes[p.key] = p.value
	}
	given := func(key string, decode func(n *yaml.Node)) {
		if n := nodes[key]; n != nil {
			decode(n)
		}
	}
	given("question", func(n *yaml.Node) { d.into(n, "question", &s.Question) })
	given("description", func(n *yaml.Node) { d.into(n, "description", &s.Description) })
	given("source", func(n *yaml.Node) { d.into(n, "source", &s.Source) })
	given("repeats", func(n *yaml.Node) { d.repeats(n, "repeats", s) })
	given("base", func(n *yaml.Node) { s.base = d.set(n, "base") })
	given("axes", func(n *yaml.Node) { axes = d.axes(n, "axes") })
	given("exclude", func(n *yaml.Node) { exclude = d.rules(n, "exclude") })
	s.mergeFlat(d, flat)
	s.sweeps = nil
	given("sweeps", func(n *yaml.Node) { s.sweeps = d.sweeps(n, axes, exclude) })
	if len(s.sweeps) == 0 && (nodes["axes"] != nil || nodes["points"] == nil) {
		s.sweeps = []sweep{{axes: axes, exclude: exclude}}
	}
	given("points", func(n *yaml.Node) { s.sweeps = append(s.sweeps, d.points(n)...) })
	given("scales", func(n *yaml.Node) { s.scales = d.scales(n, s.sweeps) })
	d.checkRules(s.sweeps, s.sweeps, axes)
	for _, c := range s.scales {
		d.checkRules(c.sweeps, s.sweeps, axes)
	}
	given("published", func(n *yaml.Node) { s.Published = s.tables(d, n) }) // these two name sweeps
	given("exhibits", func(n *yaml.Node) { s.Exhibits = s.exhibits(d, n) })
}

// forkKeys are the keys of a workload of the OpenMessaging Benchmark that neither it nor a spec knows, which forks of it have. They are
// refused in one sentence; a mistyped key is not among them, unless the document also has the one that it is like: partitionsPerTopicList
// beside partitionsPerTopic.
func (d decoder) forkKeys(root *yaml.Node) []string {
	isOfWorkload := func(key *yaml.Node) bool {
		return slices.Contains([]string{"producerRate", "testDurationMinutes", "consumerBacklogSizeGB"}, key.Value)
	}
	if !slices.ContainsFunc(root.Content, isOfWorkload) {
		return nil
	}
	var keys []string
	at := root
	names := slices.Concat(studyKeys, otherNames(), layout().groups[""])
	for i := 0; i+1 < len(root.Content); i += 2 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == root.Content[i].Value })
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch key := root.Content[i]; {
		case isOfWorkload(key) || slices.Contains(studyKeys, key.Value) || known(key.Value) || suggest.Nearest(key.Value, names) != "":
		default:
			if len(keys) == 0 {
				at = key
			}
			keys = append(keys, key.Value)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	d.add(d.at(at), "", "%s: without counterpart here; a fork of the OpenMessaging Benchmark has such keys: leave them out", strings.Join(keys, ", "))
	return keys
}

// mergeFlat adds the settings at the top level to the base; name and seed there are the study's too.
func (s *Study) mergeFlat(d decoder, flat layer) {
	at := s.base.places()
	if first, second, twice := clash(at, s.base, flat); twice && second.path != "name" && second.path != "seed" {
		d.add(second.at, second.as, "given twice: also in base%s", onLine(first.at))
	}
	for _, f := range flat {
		switch f.path {
		case "name":
			s.Name = oneLine(f.value.(string))
		case "seed":
			s.Seed = f.value.(int64)
		}
		if _, there := at[f.path]; !there {
			s.base = append(s.base, f)
		}
	}
}

// sweeps decodes the list of sweeps; each has the study's axes too, unless it names its own of that name.
func (d decoder) sweeps(n *yaml.Node, axes []axis, exclude []rule) []sweep {
	var out []sweep
	for path, item := range d.mappings(n, "sweeps", "{name, set, axes, exclude}", " with name, set, axes, exclude") {
		w := sweep{exclude: slices.Clone(exclude)}
		var own []axis
		for _, p := range d.pairs(item, path) {
			switch full := path + "." + p.key; p.key {
			case "name":
				d.into(p.value, full, &w.name)
			case "set":
				w.set = d.set(p.value, full)
			case "axes":
				own = d.axes(p.value, full)
			case "exclude":
				w.exclude = append(w.exclude, d.rules(p.value, full)...)
			default:
				d.unknownKey(p, full, "name", "set", "axes", "exclude")
			}
		}
		if w.name == "" || slices.ContainsFunc(out, func(o sweep) bool { return o.name == w.name }) {
			d.add(d.at(item), path+".name", "%q: every sweep needs a name of its own", w.name)
		}
		inherited := slices.DeleteFunc(slices.Clone(axes), func(a axis) bool { return indexOf(own, a.name) >= 0 })
		w.axes = append(inherited, own...)
		out = append(out, w)
	}
	return out
}

// set decodes a mapping of settings inside a study.
func (d decoder) set(n *yaml.Node, path string) layer {
	if !d.isMapping(n, path, " of settings") {
		return nil
	}
	return d.layer(n, "", path, nil)
}

func (d decoder) points(n *yaml.Node) []sweep {
	var out []sweep
	for path, item := range d.mappings(n, "points", "mappings of settings", " of settings") {
		out = append(out, sweep{set: d.layer(item, "", path, nil), single: true})
	}
	return out
}
