package study

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/suggest"
)

// Study is a question and the points that answer it. Repeats may be set directly; specs and axes are changed by Set, SetAxis and
// Quick. It is not safe for concurrent use.
type Study struct {
	Name        string
	Question    string
	Description string
	Source      string   // where the published study can be found
	Repeats     int      // of every point, at least 1; with Until the maximum
	Until       float64  // half the width of an interval, as a share of the median, at which a point has enough repetitions; 0: none
	Seed        int64    // of the order of points; 0: each run draws one
	File        string   // as given to Parse
	Notes       []string // how keys of the OpenMessaging Benchmark were read
	Distrusted  bool     // the document may come from elsewhere: it must not run code, or read or send files and secrets of this machine
	Files       fs.FS    // the study's folder, with the payloads that its document names; nil: they are looked up around File
	Published   []Published
	Exhibits    []Exhibit

	base    layer
	sweeps  []sweep
	scales  []scale
	at      string // the scale; "" is Full
	quick   bool
	metrics []named           // of published tables and exhibits
	flags   map[string]string // the flag, as typed, that gave a setting, by path
}

// sweep is one cross product of axes; a study has one, or several that share its base.
type sweep struct {
	name    string // "" where there is only one
	set     layer
	axes    []axis
	exclude []rule
	scaled  layer // from the scale
	over    layer // from flags
	single  bool  // one explicit point: set distinguishes it from its neighbours
}

// Ranks of the layers of a point.
const (
	rankBase = iota
	rankSweep
	rankAxes
	rankScale
	rankFlags
)

// New makes a study of one point with only defaults.
func New(name string) *Study {
	return &Study{Name: name, Repeats: 1, sweeps: []sweep{{}}, flags: map[string]string{}}
}

// Clone returns an independent copy of the study.
func (s *Study) Clone() *Study {
	c := *s
	c.sweeps, c.flags = slices.Clone(s.sweeps), maps.Clone(s.flags)
	return &c
}

// studyKeys are the keys of a study document that are not settings of a spec.
var studyKeys = []string{"question", "description", "source", "repeats", "base", "axes", "exclude", "sweeps", "points", "scales", "published", "exhibits"}

const maxDocument = 8 << 20 // bytes

// Parse parses a study document, a spec (a study of one point) or an OpenMessaging Benchmark workload file. name is used in
// errors, and its folder to find payload files. All errors of the document are reported together, as *Errors; Points finds
// impossible combinations of settings.
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

// nameOf is the name of a study without one: its file's, or its folder's if the file is study.yaml.
func nameOf(file string) string {
	base := filepath.Base(file)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if dir := filepath.Base(filepath.Dir(file)); name == "study" && dir != "." && dir != "/" {
		return dir
	}
	return name
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

// forkKeys are the keys of a workload of the OpenMessaging Benchmark that only forks of it have. They are refused in one
// sentence. A mistyped key is not among them, unless the document also has the key that it resembles: partitionsPerTopicList
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

// mergeFlat adds the settings at the top level to the base; name and seed there are also the study's.
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

// sweeps decodes the list of sweeps; each also has the study's axes, unless it has an axis of the same name.
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

const (
	maxRepeats = 10_000
	// untilMost is the limit of repetitions for "until 5%" without an explicit one.
	untilMost = 20
)

var until = regexp.MustCompile(`^until\s+([0-9.]+)\s*%(?:\s*,?\s*(?:at most|or)\s+([0-9]+))?$`)

const repeatsAllowed = `allowed: 1 to 10000, or "until 5%" or "until 5%, at most 30"`

// parseRepeats parses Study.Repeats and Study.Until: "until 5%, at most 30" is 30 and 0.05, "3" is 3 and 0.
func parseRepeats(text string) (most int, share float64, err error) {
	text = strings.TrimSpace(text)
	if parts := until.FindStringSubmatch(text); parts != nil {
		most = untilMost
		percent, err := strconv.ParseFloat(parts[1], 64)
		if err == nil && parts[2] != "" {
			most, err = strconv.Atoi(parts[2])
		}
		share = percent / 100
		if err != nil || share <= 0 || share >= 1 || most < 1 || most > maxRepeats {
			return 0, 0, fmt.Errorf("%q is out of range; %s", text, repeatsAllowed)
		}
		return most, share, nil
	}
	if strings.HasPrefix(text, "until") {
		return 0, 0, fmt.Errorf("%q is no number of repetitions; %s", text, repeatsAllowed)
	}
	n, err := wholeNumber(text)
	if err == nil && (n < 1 || n > maxRepeats) {
		err = fmt.Errorf("%d is out of range; allowed: 1 to %d", n, maxRepeats)
	}
	return int(n), 0, err
}

// repeats decodes repeats into a study.
func (d decoder) repeats(n *yaml.Node, path string, s *Study) {
	if n = resolve(n); !isScalar(n) {
		d.add(d.at(n), path, "%s is not a whole number", Seen(n))
		return
	}
	most, share, err := parseRepeats(n.Value)
	if err != nil {
		d.add(d.at(n), path, "%v", err)
		return
	}
	s.Repeats, s.Until = most, share
}
