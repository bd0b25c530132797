package livetest

import (
	"bytes"
	"sync"
)

// Log keeps the end of a client library's log.
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

// Last returns the end of the log.
func (l *Log) Last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.text))
}
