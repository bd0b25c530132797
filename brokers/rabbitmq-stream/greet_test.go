package rabbitmqstream

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
)

// answer is a frame with the properties' head and body.
func answer(key, code uint16, count uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(14+len(body)))
	b = binary.BigEndian.AppendUint16(b, key)
	b = binary.BigEndian.AppendUint16(b, 1)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint16(b, code)
	b = binary.BigEndian.AppendUint32(b, count)
	return append(b, body...)
}

func TestGreetingThatIsNotRabbitMQsIsRefused(t *testing.T) {
	const ours = peerPropertiesKey | responseBit
	for name, c := range map[string]struct {
		answer []byte
		says   string // empty: it is right
	}{
		"nothing":                {nil, "EOF"},
		"a word":                 {[]byte("HTTP/1.1 400 Bad Request\r\n"), "an answer of"},
		"another command":        {answer(ours+1, 1, 0, ""), "an answer of"},
		"a refusal":              {answer(ours, 2, 0, ""), "code 2"},
		"cut short":              {answer(ours, 1, 1, "\x00\x07version\x00"), "cut short"},
		"fewer than it says":     {answer(ours, 1, 2, "\x00\x07version\x00\x054.0.5"), "cut short"},
		"a size beyond all need": {append([]byte{0xff, 0xff, 0xff, 0xff}, answer(ours, 1, 0, "")[4:]...), "an answer of"},
		"right":                  {answer(ours, 1, 1, "\x00\x07version\x00\x054.0.5"), ""},
	} {
		near, far := net.Pipe()
		go func() {
			_, _ = far.Read(make([]byte, 100))
			_, _ = far.Write(c.answer)
			_ = far.Close()
		}()
		got, err := peerProperties(near)
		_ = near.Close()
		switch {
		case c.says == "" && (err != nil || got["version"] != "4.0.5"):
			t.Errorf("%s: %v, %v", name, got, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, %v; want an error that says %q", name, got, err, c.says)
		}
	}
}

func TestClientReadsTheMessagesThatWeEncode(t *testing.T) {
	for _, size := range []int{0, 1, 255, 256, 70_000} {
		payload := bytes.Repeat([]byte{7}, size)
		encoded := appendData(nil, payload)
		if len(encoded) > size+overhead {
			t.Errorf("%d bytes became %d", size, len(encoded))
		}
		var m amqp.Message
		if err := m.UnmarshalBinary(encoded); err != nil || len(m.Data) != 1 || !bytes.Equal(m.Data[0], payload) {
			t.Errorf("a payload of %d bytes was read back as %d parts: %v", size, len(m.Data), err)
		}
	}
}

// FuzzGreeting gives whatever a server may say on its first frame: properties no longer than it, or an error.
func FuzzGreeting(f *testing.F) {
	text := "\x00\x07version\x00\x064.0.5."
	f.Add(answer(peerPropertiesKey|responseBit, 1, 1, text))
	f.Add(answer(peerPropertiesKey|responseBit, 1, 1<<31, text))
	f.Add(answer(peerPropertiesKey|responseBit, 1, 2, text))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		said, err := peerProperties(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(frame), io.Discard})
		length := 0
		for name, value := range said {
			length += len(name) + len(value)
		}
		if length > len(frame) || err != nil && said != nil {
			t.Errorf("%d bytes of properties out of %d: %v", length, len(frame), err)
		}
	})
}
