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

// Streams are a control connection through the standard streams of an agent that another host's coordinator has placed.
type Streams struct {
	in    *bufio.Reader
	out   io.Writer
	ended func()
	used  atomic.Bool
}

// Begin is the first thing that a placed agent does: it removes the folder that it was started from and reads its token. ended is called
// when nobody is at the other end any more.
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

// Dial is the connection, once: when it has ended there is no other.
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
