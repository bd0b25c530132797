package drivertest

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

// Every message of a driver that supports headers has sentHeaders, except in bare sessions. Consumers ask for one more header.
var (
	sentHeaders   = []string{"trace", "contentType"}
	wantedHeaders = []string{"contentType", "absent", "trace"}
)

// longestValue exceeds the length of a text whose length fits in one byte.
const longestValue = 300

// header is the value of a header of a message: the value and its length follow from the message's identity. nil: the message has
// no header of that name.
func (id identity) header(name string) []byte {
	switch name {
	case "trace":
		return fmt.Appendf(nil, "%016x", uint64(id))
	case "contentType":
		text := make([]byte, longestValue)
		id.fill(text[:longestValue/2])
		hex.Encode(text, bytes.Clone(text[:longestValue/2]))
		return text[:1+id.sequence()%longestValue]
	}
	return nil
}

// examineHeaders describes what is wrong with the headers of a delivered message.
func examineHeaders(id identity, m driver.Received, names []string, carries bool) error {
	if carries && len(m.Headers.Values()) != len(names) {
		return fmt.Errorf("%v was delivered with the values of %d headers; %d were asked for", id, len(m.Headers.Values()), len(names))
	}
	for i, value := range m.Headers.Values() {
		var want []byte
		if carries {
			want = id.header(names[i])
		}
		if !bytes.Equal(value, want) || (value == nil) != (want == nil) {
			return fmt.Errorf("%v was delivered with the header %s: %q; want %q", id, names[i], value, want)
		}
	}
	return nil
}
