package pulsar

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

const (
	openPatience = 5 * time.Second
	// alertPatience is for a server that has something against a handshake to say so.
	alertPatience = time.Second
)

// attach finds out whether the broker can be used as the target says, or why it can't.
func (s *session) attach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	t := s.config.Target
	for _, address := range t.Addresses {
		if err := reach(ctx, address, t.TLS); err != nil {
			return fmt.Errorf("pulsar at %s: %w", address, explain(err, t.TLS != nil))
		}
	}
	var err error
	if s.largest, err = s.admin.maxMessageSize(ctx); err != nil {
		return fmt.Errorf("pulsar's admin interface at %s: %w", strings.Join(s.admin.urls, ", "), explain(err, t.TLS != nil))
	}
	if err := s.login(); err != nil {
		return fmt.Errorf("pulsar at %s: %w", strings.Join(t.Addresses, ", "), s.diagnose(ctx, err))
	}
	return nil
}

// reach tells why a broker can't be reached: the client library only says that there was a connection error.
func reach(ctx context.Context, address string, config *tls.Config) error {
	conn, err := dial(ctx, address, config)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func dial(ctx context.Context, address string, config *tls.Config) (net.Conn, error) {
	if config == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
}

// login has the broker answer a request of the binary protocol, which it does for nobody whom it doesn't know.
func (s *session) login() error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.TopicPartitions("persistent://public/default/brokermark")
	return err
}

// diagnose says why a broker that is there hangs up on the client, which only knows that it did.
func (s *session) diagnose(ctx context.Context, err error) error {
	address, config := s.config.Target.Addresses[0], s.config.Target.TLS
	if config == nil {
		anybody := &tls.Config{InsecureSkipVerify: true} // nothing is sent to it
		if conn, tried := dial(ctx, address, anybody); tried == nil {
			_ = conn.Close()
			return fmt.Errorf("it wants TLS: %w", err)
		}
	} else if refused := alert(ctx, address, config); refused != nil {
		return explain(refused, true)
	}
	return fmt.Errorf("it answers, but refuses the client's first request; user or password may be wrong: %w", err)
}

// alert is what a server has against the client's certificate. It says so when the client believes the handshake over.
func alert(ctx context.Context, address string, config *tls.Config) error {
	conn, err := dial(ctx, address, config)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(alertPatience))
	_, err = conn.Read(make([]byte, 1))
	if alerted(err) {
		return err
	}
	return nil
}

// alerted tells that the other side ended a TLS connection with its reason.
func alerted(err error) bool {
	var remote *net.OpError
	return errors.As(err, &remote) && remote.Op == "remote error"
}

// explain says which of the usual reasons it is that a broker can't be reached.
func explain(err error, encrypted bool) error {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var answer *answerError
	var reason string
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "nobody listens there"
	case errors.As(err, &answer) && (answer.code == http.StatusUnauthorized || answer.code == http.StatusForbidden):
		reason = "user or password is wrong, or the user is no administrator"
	case errors.As(err, &certificate):
		reason = "its certificate is not trusted"
	case alerted(err):
		reason = "it refuses the client's certificate, or that there is none"
	case errors.As(err, &record), errors.Is(err, io.EOF) && encrypted, errors.Is(err, syscall.ECONNRESET) && encrypted:
		reason = "it doesn't speak TLS"
	case errors.Is(err, io.EOF):
		reason = "it hung up, perhaps because it wants TLS"
	case errors.Is(err, context.DeadlineExceeded):
		reason = fmt.Sprintf("no answer within %v", openPatience)
	default:
		return err
	}
	return fmt.Errorf("%s: %w", reason, err)
}
