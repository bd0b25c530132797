package study

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Headers are the headers of every message: values by their names, or the number of generated headers and the size of their values.
type Headers map[string]any

// A mapping with these two keys asks for generated headers.
const (
	headerCount = "count"
	headerSize  = "size"
)

const (
	mostHeaders     = 100
	mostHeaderBytes = 16 << 10 // of all names and values: the smallest limit of a protocol is twice that
)

var headerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,99}$`)

// Header is a header's name and value or, if it is generated, the size of its value.
type Header struct {
	Name, Value string
	Size        int // 0: Value is given
}

// List lists the headers: those with given names by name, the generated ones by number: h1, h2 and so on.
func (h Headers) List() []Header {
	list, _ := h.list()
	return list
}

func (h Headers) list() (list []Header, problem string) {
	_, counted := h[headerCount]
	_, sized := h[headerSize]
	if counted || sized {
		return h.madeUp()
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		value := fmt.Sprint(h[name])
		switch {
		case !headerName.MatchString(name):
			return nil, fmt.Sprintf("%q is not a name; allowed: a letter, then letters, digits and . _ -, 100 at most", name)
		case strings.EqualFold(name, "brokermark"):
			return nil, fmt.Sprintf("%q is the header of a message's identity", name)
		case value == "" || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			return nil, fmt.Sprintf("%s: %q is not a value; allowed: printable ASCII characters", name, value)
		}
		list = append(list, Header{Name: name, Value: value})
	}
	return list, ""
}

func (h Headers) madeUp() ([]Header, string) {
	count, err := wholeNumber(fmt.Sprint(h[headerCount]))
	size, errSize := ParseSize(fmt.Sprint(h[headerSize]))
	switch {
	case len(h) != 2 || h[headerCount] == nil || h[headerSize] == nil:
		return nil, "allowed: count and size together, or other names with their values"
	case err != nil || count < 1 || count > mostHeaders:
		return nil, fmt.Sprintf("count %v is out of range; allowed: 1 to %d", h[headerCount], mostHeaders)
	case errSize != nil || size < 1 || size > mostHeaderBytes:
		return nil, fmt.Sprintf("size %v is out of range; allowed: 1 to %d bytes", h[headerSize], mostHeaderBytes)
	}
	list := make([]Header, count)
	for i := range list {
		list[i] = Header{Name: fmt.Sprintf("h%d", i+1), Size: int(size)}
	}
	return list, ""
}

func (v *validator) headers() {
	list, problem := v.spec.Headers.list()
	total := 0
	for _, h := range list {
		total += len(h.Name) + len(h.Value) + h.Size
	}
	if problem == "" && total > mostHeaderBytes {
		problem = fmt.Sprintf("names and values have %d bytes; allowed: %d", total, mostHeaderBytes)
	}
	if problem != "" {
		v.fail("headers", "%s", problem)
	}
}
