// Facts about records: all settings and circumstances that could make two records incomparable, by path.
//
//	client.linger.ms: 5            the spec asked for it; all of the spec stands under its own names
//	settings.client.linger.ms: 5   the client used it
//	versions.broker: 4.1           found when it was measured, as everything below versions and host
//	shipped: kafka                 an axis of the study that is no path of the spec

package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// notCompared are the paths of a spec that don't change the work: names, and the sources of secrets.
var notCompared = map[string]bool{
	"name": true, "label": true, "topicPrefix": true,
	"passwordEnv": true, "passwordFile": true, "caFile": true, "certFile": true, "keyFile": true,
}

// SpecFacts are the facts of a spec alone.
func SpecFacts(s study.Spec) map[string]string { return new(factCache).ofSpec(s) }

// Facts are the facts of the point's first record.
func (p Point) Facts() map[string]string { return p.facts.ofRecord(p.Records[0]) }

// ofRecord are the facts of a record, in a map that the caller may change.
func (c *factCache) ofRecord(r store.Record) map[string]string {
	facts := c.ofSpec(r.Spec)
	for axis, value := range r.Axes {
		if _, inSpec := facts[axis]; !inSpec && !notCompared[axis] {
			facts[axis] = value
		}
	}
	maps.Copy(facts, c.flatten("settings", r.Settings))
	maps.Copy(facts, c.flatten("versions", r.Versions))
	facts["identity"] = r.Identity
	host := r.Host
	host.MemoryBytes = 0 // a new kernel changes it by a few pages
	maps.Copy(facts, c.flatten("host", host))
	delete(facts, "host.memory_bytes")
	if host.Cores == 0 { // not known, as in imported results
		delete(facts, "host.cores")
	}
	maps.DeleteFunc(facts, func(_, value string) bool { return value == "" })
	facts["messageSize"] = r.Spec.MessageSize.String()
	return facts
}

// ofSpec are the facts of a spec, in a map that the caller may change.
func (c *factCache) ofSpec(s study.Spec) map[string]string {
	s.Objectives, s.OAuth = nil, study.OAuth{}
	if s.PayloadDigest != "" {
		s.PayloadFile, s.PayloadColumn = "", "" // the digest identifies the payload, wherever it comes from
	}
	facts := maps.Clone(c.flatten("", s))
	for path := range notCompared {
		delete(facts, path)
	}
	return facts
}

// implied are the facts that necessarily differ if the named one does. withImplied finds those below client, server and topicConfig.
var implied = map[string][]string{
	"broker": {
		"version", "attach", "login", "user", "server", "client", "topicConfig", "settings", "versions.broker", "versions.client", "versions.tls", "identity",
	},
	"tls":         {"versions.tls"},
	"size":        {"messageSize"},
	"version":     {"versions.broker", "settings"},
	"client":      {"settings.client"},
	"server":      {"settings.server"},
	"topicConfig": {"settings.topic"},
	"fault":       {"faults"},
	"measure":     {"load", "sustainable", "curve", "count", "backlog", "read", "duration", "warmup", "drain"},
}

// withImplied are the named facts and those that they imply: for "broker" also version and versions.client, for "client.linger"
// also settings.client.linger.
func withImplied(named []string) map[string]bool {
	all := map[string]bool{}
	for _, n := range named {
		all[n] = true
		for _, other := range implied[n] {
			all[other] = true
		}
		if strings.HasPrefix(n, "client.") || strings.HasPrefix(n, "server.") || strings.HasPrefix(n, "topicConfig.") {
			all["settings."+strings.Replace(n, "topicConfig.", "topic.", 1)] = true
		}
	}
	return all
}

// isAtOrBelow reports whether path is one of ancestors, which may be many, or lies below one: client.linger.ms is below client.linger.
func isAtOrBelow(path string, ancestors map[string]bool) bool {
	for i := range len(path) {
		if path[i] == '.' && ancestors[path[:i]] {
			return true
		}
	}
	return ancestors[path]
}

// Workload identifies the work in the point's spec, apart from the named facts: two points with equal workloads ask for the same work.
func (p Point) Workload(named ...string) string {
	leftOut := withImplied(named)
	facts := p.facts.ofSpec(p.Spec)
	paths := lists.Filter(sortedKeys(facts), func(path string) bool { return !isAtOrBelow(path, leftOut) })
	return strings.Join(lists.Map(paths, func(path string) string { return path + "=" + facts[path] }), "\n")
}

// Residue lists the facts in which records differ that are to be pooled or compared, sorted: "host.cores: 2, 8". It leaves out
// the named facts, those that they imply, and paths below these.
func Residue(records []store.Record, named ...string) []string {
	if len(records) < 2 {
		return nil // for speed: thousands of points may have one record each
	}
	leftOut := withImplied(named)
	values, present := Values{}, map[string]int{} // by path; present counts the records that have a value
	facts := new(factCache)
	for _, r := range records {
		for path, value := range facts.ofRecord(r) {
			values.Add(path, value)
			present[path]++
		}
	}
	var lines []string
	for _, path := range sortedKeys(values) {
		differing := sortedKeys(values[path])
		if present[path] < len(records) {
			differing = append(differing, "unset")
		}
		if len(differing) > 1 && !isAtOrBelow(path, leftOut) {
			lines = append(lines, path+": "+strings.Join(differing, ", "))
		}
	}
	return lines
}

// sortedKeys lists the keys of a map in their order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// factCache turns the values of a record's settings, versions and host into facts, and remembers them for speed: most
// records of a study share these values, and every report asks for the same ones. A nil cache remembers nothing. Its methods
// may be called at the same time.
type factCache struct {
	mu    sync.Mutex
	known map[factSource]map[string]string // never changed
}

// factSource is the source of facts: a path such as "settings", and the value at it as JSON.
type factSource struct{ path, json string }

// maxCached is the number of values after which a cache forgets all of them. Each takes a few kilobytes.
const maxCached = 20_000

// flatten lists the values inside v by their paths below path: {"linger": {"ms": 5}} at the path "client" gives client.linger.ms:
// "5". Lists stay whole, as JSON. The caller must not change the map.
func (c *factCache) flatten(path string, v any) map[string]string {
	source := factSource{path: path, json: jsonOf(v)}
	if c == nil {
		return source.facts()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if facts, known := c.known[source]; known {
		return facts
	}
	if c.known == nil || len(c.known) >= maxCached {
		c.known = map[factSource]map[string]string{}
	}
	facts := source.facts()
	c.known[source] = facts
	return facts
}

// facts are the values of the source by their paths.
func (s factSource) facts() map[string]string {
	decoder := json.NewDecoder(strings.NewReader(s.json))
	decoder.UseNumber() // keeps the digits
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		panic("results: " + err.Error()) // it was encoded just before
	}
	facts := map[string]string{}
	addFacts(facts, s.path, tree)
	return facts
}

// addFacts adds the values inside a decoded JSON value to facts, by their paths below path.
func addFacts(facts map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			below := key
			if path != "" {
				below = path + "." + key
			}
			addFacts(facts, below, value)
		}
	case []any:
		facts[path] = jsonOf(v)
	case nil: // not set
	default: // a number, a text or a bool
		facts[path] = fmt.Sprint(v)
	}
}
