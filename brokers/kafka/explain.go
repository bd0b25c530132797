package kafka

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/driver"
)

// explain distinguishes a refusal from a failed connection.
func explain(t driver.Target, err error) error {
	where := strings.Join(t.Addresses, ", ")
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed), errors.Is(err, errToken):
		return driver.RefusedLogin("kafka", where, t, err)
	case errors.Is(err, kerr.IllegalSaslState), errors.Is(err, kerr.UnsupportedSaslMechanism):
		return driver.Refused("kafka", where, fmt.Errorf("it takes no login of this kind: %w", err))
	}
	explained := driver.Explain("kafka", t.Addresses, t, err)
	// Kafka closes the connection of a client that sends other requests before logging in, except a few.
	var e *driver.ErrConnect
	if errors.As(explained, &e) && e.Obstacle == driver.NotUnderstood && t.User == "" && t.Login == driver.ByPassword && errors.Is(err, io.EOF) && !silent(err) {
		return driver.RefusedLogin("kafka", where, t, err)
	}
	return explained
}

// silent reports whether the port closed before it sent anything. Only the text of the client's error shows that.
func silent(err error) bool {
	var first *kgo.ErrFirstReadEOF
	return errors.As(err, &first) && strings.Contains(first.Error(), "during api versions negotiation")
}

// denials are a broker's answers to a client that lacks a right, or asks for a group that the broker has in another form.
var denials = []*kerr.Error{
	kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed,
	kerr.InvalidSessionTimeout, kerr.GroupMaxSizeReached, kerr.InconsistentGroupProtocol,
}

// denied reports whether the client was refused in a way that no further attempt changes.
func denied(err error) bool {
	var e *kerr.Error
	return errors.As(err, &e) && slices.Contains(denials, e)
}

// refusal is why the broker refuses r, with the setting to change if err doesn't name it.
func refusal(r *kgo.Record, err error) error {
	if errors.Is(err, kerr.InvalidRecord) && r.Key == nil {
		return fmt.Errorf("%w (%s)", err, keysNeeded)
	}
	return err
}

// throttled reports to a producer's receipts for how long a broker makes the client wait because of a quota.
type throttled struct {
	receipts driver.Receipts
	mu       sync.Mutex
	until    *time.Timer
}

// OnBrokerThrottle implements kgo.HookBrokerThrottle.
func (t *throttled) OnBrokerThrottle(_ kgo.BrokerMetadata, pause time.Duration, _ bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	driver.Hold(t.receipts, "a quota: throttle_time_ms in its answers")
	if t.until == nil {
		t.until = time.AfterFunc(pause, func() { driver.Hold(t.receipts, "") })
		return
	}
	t.until.Reset(pause)
}
