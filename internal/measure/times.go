package measure

import "sync/atomic"

// timeTable keeps the intended and sent times of the last messages of a stream whose payloads are too short to carry them. With 1,024
// entries, message 1,024 takes the entry of message 0; if message 0 arrives after that, its times are unknown.
type timeTable struct {
	mask    uint64                      // size − 1; the size is a power of two
	entries atomic.Pointer[[]timeEntry] // made with the first message
}

type timeEntry struct {
	number         atomic.Int64 // the message's number + 1; 0 while the entry is empty or being written
	intended, sent atomic.Int64 // ns
}

// A table has room for the messages in flight and, since messages wait in the broker as well, for preferredEntries, unless all
// tables together would exceed maxAllEntries.
const (
	minEntries       = 64
	preferredEntries = 1024
	maxAllEntries    = 1 << 20
)

func newTimeTable(inFlight, producers int) *timeTable {
	size := minEntries
	for size < inFlight || (size < preferredEntries && size*producers < maxAllEntries) {
		size *= 2
	}
	return &timeTable{mask: uint64(size - 1)}
}

// put keeps the times of message n. Only the goroutine that sends the stream calls it.
func (t *timeTable) put(n uint64, intended, sent int64) {
	entries := t.entries.Load()
	if entries == nil {
		made := make([]timeEntry, t.mask+1)
		entries = &made
		t.entries.Store(entries)
	}
	e := &(*entries)[n&t.mask]
	e.number.Store(0) // a reader between here and the end finds no message
	e.intended.Store(intended)
	e.sent.Store(sent)
	e.number.Store(int64(n) + 1)
}

// look returns the times of message n; ok is false if they are not in the table any more.
func (t *timeTable) look(n uint64) (intended, sent int64, ok bool) {
	entries := t.entries.Load()
	if entries == nil {
		return 0, 0, false
	}
	e := &(*entries)[n&t.mask]
	if e.number.Load() != int64(n)+1 {
		return 0, 0, false
	}
	intended, sent = e.intended.Load(), e.sent.Load()
	return intended, sent, e.number.Load() == int64(n)+1 // otherwise put has reused the entry meanwhile
}
