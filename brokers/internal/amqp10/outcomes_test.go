package amqp10

import (
	"bytes"
	"testing"
)

// attachFrame is a frame as the client writes it for a link "n" whose source is encoded so.
func attachFrame(source string) []byte {
	fields := "\x00\x00\x00\x06" + "\xa1\x01n" + "\x43" + "\x42" + "\x40\x40" + source // name, handle, role, modes, source
	list := "\x00\x53\x12\xd0\x00\x00\x00" + string(rune(len(fields))) + fields
	return []byte("\x00\x00\x00" + string(rune(8+len(list))) + "\x02\x00\x00\x00" + list)
}

func TestASenderTellsTheBrokerThatItMayReject(t *testing.T) {
	const nulls = "\x40\x40\x40\x40\x40\x40\x40\x40\x40" // address to default-outcome
	const symbols = "\xe0\x28\x02\xa3\x12amqp:accepted:list\x12amqp:rejected:list"
	told := attachFrame("\x00\x53\x28\xc0\x34\x0a" + nulls + symbols)
	for name, c := range map[string]struct{ frame, want []byte }{
		"nothing":          {[]byte{}, []byte{}},
		"protocol header":  {[]byte("AMQP\x00\x01\x00\x00"), []byte("AMQP\x00\x01\x00\x00")},
		"another frame":    {[]byte("\x00\x00\x00\x14\x02\x00\x00\x00\x00\x53\x14\xd0\x00\x00\x00\x04\x00\x53\x28\x45"), nil},
		"a named source":   {attachFrame("\x00\x53\x28\xc0\x04\x01\xa1\x01q"), nil},
		"a sender's":       {attachFrame("\x00\x53\x28\x45"), told},
		"told already":     {told, nil},
		"cut off too soon": {told[:14], nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.want
			if want == nil {
				want = c.frame
			}
			if got := withOutcomes(c.frame); !bytes.Equal(got, want) {
				t.Errorf("%x\nbecame\n%x, want\n%x", c.frame, got, want)
			}
		})
	}
}
