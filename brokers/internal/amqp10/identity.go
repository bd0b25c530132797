package amqp10

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
)

// identities are the identities of one producer's messages: its name, and a number that a message keeps when it is sent again.
type identities struct {
	producer string
	last     uint64
	numbers  []uint64 // by slot
}

// newIdentities returns identities with a name that no other producer has, in this run or an earlier one: a broker remembers.
func newIdentities(slots int) *identities {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return &identities{producer: hex.EncodeToString(random[:]), numbers: make([]uint64, slots)}
}

// enter numbers the messages that are sent for the first time, with or without a connection.
func (i *identities) enter(batch []driver.Message) {
	for _, m := range batch {
		if !m.Resent {
			i.last++
			i.numbers[m.Slot] = i.last
		}
	}
}

// of returns the identity of the message in slot.
func (i *identities) of(slot uint32) string {
	return i.producer + "-" + strconv.FormatUint(i.numbers[slot], 10)
}
