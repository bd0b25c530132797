package amqp10

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/brokermark/brokermark/brokers/internal/socket"
)

// wire is the net.Conn under the client, which ends every frame with a write of its own.
type wire struct{ *socket.Coalescer }

// Write takes one frame.
func (w wire) Write(frame []byte) (int, error) {
	if _, err := w.Coalescer.Write(withOutcomes(frame)); err != nil {
		return 0, err
	}
	return len(frame), nil
}

// A sender's attach frame, as the client writes it, is
//
//	size×4  doff type channel×2 | 00 53 12 d0 size×4 count×4 | name handle role … source …
//
// with an empty source: a list without fields.
const attachBody = 8 // bytes before the performative

var (
	attachList  = []byte{0x00, 0x53, 0x12, 0xd0}
	emptySource = []byte{0x00, 0x53, 0x28, 0x45}
	// refusable is a source whose tenth field has the outcomes that a broker may give a message.
	refusable = source("amqp:accepted:list", "amqp:rejected:list")
)

func source(outcomes ...string) []byte {
	var symbols []byte
	for _, o := range outcomes {
		symbols = append(append(symbols, byte(len(o))), o...)
	}
	fields := append(bytes.Repeat([]byte{0x40}, 9), 0xe0, byte(len(symbols)+2), byte(len(outcomes)), 0xa3)
	fields = append(fields, symbols...)
	return append([]byte{0x00, 0x53, 0x28, 0xc0, byte(len(fields) + 1), 10}, fields...)
}

// withOutcomes adds what the client has no option for to a sender's attach frame: that the sender understands "rejected".
// Without it a broker may have to refuse a message by closing the link, which loses what is in flight on it, accepted or
// not. Other frames are returned unchanged.
func withOutcomes(frame []byte) []byte {
	if len(frame) < attachBody+len(attachList)+4 || !bytes.Equal(frame[attachBody:attachBody+len(attachList)], attachList) {
		return frame
	}
	at := bytes.Index(frame, emptySource)
	if at < 0 { // a receiver's
		return frame
	}
	out := slices.Concat(frame[:at], refusable, frame[at+len(emptySource):])
	for _, size := range [][]byte{out, out[attachBody+len(attachList):]} {
		binary.BigEndian.PutUint32(size, binary.BigEndian.Uint32(size)+uint32(len(out)-len(frame)))
	}
	return out
}
