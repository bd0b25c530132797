package kafka

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/driver"
)

// explain tells a refusal from a connection that never came about.
func explain(t driver.Target, err error) error {
	where := strings.Join(t.Addresses, ", ")
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return driver.RefusedLogin("kafka", where, t, err)
	case errors.Is(err, kerr.IllegalSaslState), errors.Is(err, kerr.UnsupportedSaslMechanism):
		return driver.Refused("kafka", where, fmt.Errorf("it takes no login of this kind: %w", err))
	}
	explained := driver.Explain("kafka", t.Addresses, t, err)
	// Kafka hangs up on whoever asks anything before logging in, except for what it understands.
	var e *driver.ErrConnect
	if errors.As(explained, &e) && e.Obstacle == driver.NotUnderstood && t.User == "" && errors.Is(err, io.EOF) && !silent(err) {
		return driver.RefusedLogin("kafka", where, t, err)
	}
	return explained
}

// silent tells that the port closed before it said anything. The client tells that by its words only.
func silent(err error) bool {
	var first *kgo.ErrFirstReadEOF
	return errors.As(err, &first) && strings.Contains(first.Error(), "during api versions negotiation")
}
