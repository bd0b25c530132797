package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/net/netutil"

	"github.com/brokermark/brokermark/internal/provision"
)

// A helper is a process that works for an experiment: the one that hosts its consumers, or a relay. It is a provision.OwnPart, and
// ready when it greets on its address:
//
//	→ {"Name":"brokermark-4711-1"}
//
// The name differs from node to node, so that no other program on that port is taken for the helper.
type greeting struct{ Name string }

// greetingTime bounds the wait for the first line of the other side.
const greetingTime = 10 * time.Second

// maxStrangers bounds the clients that a helper listens to at the same time: any user of this machine can connect to it, and say nothing.
const maxStrangers = 256

// acceptAgainAfter is how long a helper waits after a connection that could not be accepted.
const acceptAgainAfter = 50 * time.Millisecond

// listen listens at an address until ctx ends. It does not block. Each client is greeted by name, has greetingTime to speak, and is served
// in a goroutine of its own, which closes the connection.
func listen(ctx context.Context, address, name string, serve func(net.Conn)) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	l = netutil.LimitListener(l, maxStrangers)
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // too many open files, for example: that may pass
				time.Sleep(acceptAgainAfter)
				continue
			}
			go func() {
				if conn.SetDeadline(time.Now().Add(greetingTime)) != nil || json.NewEncoder(conn).Encode(greeting{Name: name}) != nil {
					conn.Close()
					return
				}
				serve(conn)
			}()
		}
	}()
	return nil
}

func answers(ctx context.Context, n *provision.Node) error {
	return checkAnswers(ctx, n.Address(), n.Name())
}

// checkAnswers returns nil if the helper of that name answers.
func checkAnswers(ctx context.Context, address, name string) error {
	conn, got, err := dial(ctx, address)
	if err != nil {
		return err
	}
	if got != name {
		err = fmt.Errorf("%s is answered by %q, not by %q", address, got, name)
	}
	return errors.Join(err, conn.Close())
}

// dial connects to a helper and returns the name from its greeting, for which it waits until ctx ends, but no longer than greetingTime.
// The caller closes the connection.
func dial(ctx context.Context, address string) (conn net.Conn, name string, err error) {
	conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, greetingTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	var g greeting
	err = readLine(conn, &g)
	if inTime := stop(); !inTime {
		err = ctx.Err()
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("read the greeting of %s: %w", address, err), conn.Close())
	}
	return conn, g.Name, nil
}

// maxLine bounds a line that readLine reads, in bytes.
const maxLine = 4 << 10

// readLine decodes one line of JSON. It reads byte by byte, so that what follows the line is left for another reader.
func readLine(r io.Reader, v any) error {
	var line []byte
	next := make([]byte, 1)
	for len(line) < maxLine {
		if _, err := io.ReadFull(r, next); err != nil {
			return err
		}
		if next[0] == '\n' {
			return json.Unmarshal(line, v)
		}
		line = append(line, next[0])
	}
	return fmt.Errorf("the first %d bytes are not a line", maxLine)
}
