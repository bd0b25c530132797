package livetest

import (
	"bytes"
	"sync"
)

// Log keeps the last of what a client library says.
type Log struct {
	mu   sync.Mutex
	text []byte
}

const remembered = 4 << 10 // bytes

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if over := len(l.text) - remembered; over > 0 {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	return len(p), nil
}

// Last is the end of it.
func (l *Log) Last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.text))
}
