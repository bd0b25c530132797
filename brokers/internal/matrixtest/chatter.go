package matrixtest

import (
	"bytes"
	"sync"
)

// chatter keeps the last of what a client library says.
type chatter struct {
	mu   sync.Mutex
	text []byte
}

const remembered = 4 << 10 // bytes

// Write implements io.Writer.
func (c *chatter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, p...)
	if over := len(c.text) - remembered; over > 0 {
		c.text = append(c.text[:0], c.text[over:]...)
	}
	return len(p), nil
}

func (c *chatter) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(bytes.TrimSpace(c.text))
}
