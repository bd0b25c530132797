package results

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// factCache turns the values of a record's settings, versions and host into facts, and remembers them for speed: most
// records of a study share these values, and every report asks for the same ones. A nil cache remembers nothing. Its methods
// may be called at the same time.
type factCache struct {
	mu    sync.Mutex
	known map[factSource]map[string]string // never changed
}

// factSource is what facts were made of: a path such as "settings", and the value at it as JSON.
type factSource struct{ path, json string }

// maxCached is how many values a cache holds before it forgets all of them. Each has a few kilobytes.
const maxCached = 20_000

// flatten lists the values inside v by their paths below path: of {"linger": {"ms": 5}} and the path "client" it makes
// client.linger.ms: "5". Lists stay whole, as JSON. The caller must not change the map.
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
