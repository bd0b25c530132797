package natsio

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestMessageThatBreaksTheConnectionIsSentAgainAndARefusedOneIsNot(t *testing.T) {
	for _, err := range []error{
		&net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}, net.ErrClosed,
		nats.ErrReconnectBufExceeded, nats.ErrConnectionClosed, nats.ErrConnectionDraining,
	} {
		if got := Disconnected(err); !errors.Is(got, driver.ErrDisconnected) || !errors.Is(got, err) {
			t.Errorf("%v became %v, which is not sent again", err, got)
		}
	}
	for _, err := range []error{nats.ErrMaxPayload, fmt.Errorf("publish: %w", nats.ErrBadSubject)} {
		if got := Disconnected(err); errors.Is(got, driver.ErrDisconnected) {
			t.Errorf("%v became %v: it would be sent again for ever", err, got)
		}
	}
}
