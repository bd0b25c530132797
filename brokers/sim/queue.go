package sim

// entry is one delivery to be made.
type entry struct {
	due   int64 // broker time
	chunk *chunk
	at, n uint32 // n is marked, see withHeaders
}

const entryBytes = 24

func (e entry) payload() []byte {
	end := e.at + e.n&^withHeaders
	return e.chunk.buf[e.at:end:end]
}

// queue holds the deliveries of one partition of a topic to one subscription: first in, first out, or by due time. It grows
// to its largest backlog and stays there. The broker's lock guards it, except for turn, which belongs to the server.
type queue struct {
	ring      []entry // power of two long
	head, len int
	byDue     bool // a heap from ring[0] on instead of a ring

	partition  int
	partitions int
	consumers  []*consumer
	turn       int // counts batches
}

func (q *queue) push(e entry) {
	if q.len == len(q.ring) {
		q.grow()
	}
	if q.byDue {
		q.siftUp(e)
	} else {
		if q.len > 0 { // random latencies don't overtake in an ordered queue
			e.due = max(e.due, q.ring[(q.head+q.len-1)&(len(q.ring)-1)].due)
		}
		q.ring[(q.head+q.len)&(len(q.ring)-1)] = e
	}
	q.len++
}

// first returns the due time of the next delivery; the queue must not be empty.
func (q *queue) first() int64 { return q.ring[q.head].due }

func (q *queue) pop() entry {
	e := q.ring[q.head]
	q.len--
	if q.byDue {
		q.siftDown()
	} else {
		q.head = (q.head + 1) & (len(q.ring) - 1)
	}
	return e
}

func (q *queue) grow() {
	wide := make([]entry, max(1024, 2*len(q.ring)))
	n := copy(wide, q.ring[q.head:])
	copy(wide[n:], q.ring[:q.head])
	q.ring, q.head = wide, 0
}

// siftUp places e in the heap, which it makes one longer.
func (q *queue) siftUp(e entry) {
	i := q.len
	for i > 0 {
		parent := (i - 1) / 2
		if q.ring[parent].due <= e.due {
			break
		}
		q.ring[i] = q.ring[parent]
		i = parent
	}
	q.ring[i] = e
}

// siftDown moves the last entry to where the first was; the heap is already one shorter.
func (q *queue) siftDown() {
	e, i := q.ring[q.len], 0
	for {
		child := 2*i + 1
		if child >= q.len {
			break
		}
		if child+1 < q.len && q.ring[child+1].due < q.ring[child].due {
			child++
		}
		if q.ring[child].due >= e.due {
			break
		}
		q.ring[i] = q.ring[child]
		i = child
	}
	q.ring[i] = e
}

// reader returns the consumer that gets the next batch. Of k consumers and P partitions, consumer p mod k reads partition
// p; if there are more consumers than partitions, those with number ≡ p (mod P) take turns.
func (q *queue) reader() *consumer {
	k := len(q.consumers)
	if k <= q.partitions {
		return q.consumers[q.partition%k]
	}
	competing := (k - q.partition + q.partitions - 1) / q.partitions
	return q.consumers[q.partition+(q.turn%competing)*q.partitions]
}
