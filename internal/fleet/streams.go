package fleet

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
)

// Streams is the control connection of a placed agent, over its standard streams.
type Streams struct {
	in    *bufio.Reader
	out   io.Writer
	ended func()
	used  atomic.Bool
}

// Begin starts a placed agent: it removes the folder that the program is in and reads the token from in. ended is called when the
// coordinator has closed the connection.
func Begin(dir string, in io.Reader, out io.Writer, ended func()) (*Streams, string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, "", err
	}
	s := &Streams{in: bufio.NewReader(in), out: out, ended: ended}
	line, err := s.in.ReadString('\n')
	if err != nil {
		return nil, "", errors.New("nobody told the token: the coordinator is gone")
	}
	token, err := TokenOf("standard input", line)
	return s, strings.TrimSpace(token), err
}

// Dial returns the connection. It works once.
func (s *Streams) Dial(string, string) (net.Conn, error) {
	if s.used.Swap(true) {
		return nil, errors.New("the connection to the coordinator has ended")
	}
	near, far := net.Pipe() // which can be given deadlines
	go func() {
		_, _ = io.Copy(far, s.in)
		_ = far.Close()
		s.ended()
	}()
	go func() { _, _ = io.Copy(s.out, far) }()
	return near, nil
}
