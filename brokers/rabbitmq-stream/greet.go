package rabbitmqstream

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/socket"
)

// greet exchanges the protocol's first frames and returns the server's properties.
func greet(ctx context.Context, address string, conf *tls.Config) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	conn, err := socket.Dial(ctx, address, conf)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	properties, err := peerProperties(conn)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("stream protocol's handshake with %s: %w", address, err)
	}
	return properties, nil
}

const (
	peerPropertiesKey = 17
	responseBit       = 0x8000
	largestGreeting   = 64 << 10
)

// peerProperties asks for the server's properties and sends none: size, key, version, correlation, count.
func peerProperties(conn io.ReadWriter) (map[string]string, error) {
	request := binary.BigEndian.AppendUint32(nil, 12)
	request = binary.BigEndian.AppendUint16(request, peerPropertiesKey)
	request = binary.BigEndian.AppendUint16(request, 1)
	request = binary.BigEndian.AppendUint32(request, 1)
	request = binary.BigEndian.AppendUint32(request, 0)
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	var head struct {
		Size         uint32
		Key, Version uint16
		Correlation  uint32
		Code         uint16
		Count        uint32
	}
	if err := binary.Read(conn, binary.BigEndian, &head); err != nil {
		return nil, err
	}
	if head.Key != peerPropertiesKey|responseBit || head.Code != 1 || head.Size < 14 || head.Size > largestGreeting {
		return nil, fmt.Errorf("an answer of %d bytes with key %#x and code %d", head.Size, head.Key, head.Code)
	}
	rest := make([]byte, head.Size-14)
	if _, err := io.ReadFull(conn, rest); err != nil {
		return nil, err
	}
	properties := map[string]string{}
	for range head.Count {
		name, after, ok := cutText(rest)
		value, after, ok2 := cutText(after)
		if !ok || !ok2 {
			return nil, errors.New("the answer is cut short")
		}
		properties[name], rest = value, after
	}
	return properties, nil
}

func cutText(b []byte) (text string, rest []byte, ok bool) {
	if len(b) < 2 {
		return "", nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if len(b) < 2+n {
		return "", nil, false
	}
	return string(b[2 : 2+n]), b[2+n:], true
}
