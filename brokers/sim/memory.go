package sim

// chunkBytes is large enough that a chunk changes hands rarely, small enough that one slow message pins little.
const chunkBytes = 1 << 20

// chunk holds the payloads of many messages, one after the other. It is used again once nothing refers to it.
type chunk struct {
	buf    []byte
	used   int
	refs   int  // deliveries that are still to be made from it
	sealed bool // no more payloads are added
}

// memory hands out chunks. It is guarded by the broker's lock.
type memory struct {
	limit int64
	taken int64 // bytes of all chunks that are not free
	free  []*chunk
	open  *chunk
}

// fits reports whether a payload of n bytes beside extra further bytes is within the limit.
func (m *memory) fits(n int, extra int64) bool {
	taken := m.taken + extra
	if m.open != nil {
		if n <= len(m.open.buf)-m.open.used {
			return taken <= m.limit
		}
		if m.open.refs == 0 {
			taken -= int64(len(m.open.buf))
		}
	}
	return taken+int64(max(n, chunkBytes)) <= m.limit
}

// store copies p and returns where it lies. The caller adds the references.
func (m *memory) store(p []byte) (*chunk, uint32) {
	if m.open == nil || len(p) > len(m.open.buf)-m.open.used {
		m.renew(len(p))
	}
	c := m.open
	at := c.used
	c.used += copy(c.buf[at:], p)
	return c, uint32(at)
}

func (m *memory) renew(n int) {
	if old := m.open; old != nil {
		old.sealed = true
		if old.refs == 0 {
			m.recycle(old)
		}
	}
	switch last := len(m.free) - 1; {
	case n > chunkBytes:
		m.open = &chunk{buf: make([]byte, n)}
	case last >= 0:
		m.open, m.free = m.free[last], m.free[:last]
	default:
		m.open = &chunk{buf: make([]byte, chunkBytes)}
	}
	m.taken += int64(len(m.open.buf))
}

func (m *memory) release(c *chunk) {
	c.refs--
	switch {
	case c.refs > 0:
	case c.sealed:
		m.recycle(c)
	default:
		c.used = 0 // without a backlog one chunk, warm in the cache, serves for ever
	}
}

func (m *memory) recycle(c *chunk) {
	m.taken -= int64(len(c.buf))
	c.used, c.sealed = 0, false
	if len(c.buf) == chunkBytes {
		m.free = append(m.free, c)
	}
}
