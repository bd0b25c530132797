package drivertest

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// Way is a way to log in to a broker that requires a login.
type Way struct {
	Name   string        // of the subtest
	Target driver.Target // with valid credentials
	Wrong  string        // a password of the right form that is refused; empty: there is none
	Says   string        // a part of the error for the wrong password
	// Secret is another secret that must not be logged, such as a token that was got for the password; empty: none.
	Secret string
}

// LogsIn logs in by each way, sends and receives. It then tries the wrong secret, which must be refused with a sentence, and
// checks that neither the driver nor its client logs a secret. Target has to configure the server for each way.
func LogsIn(t *testing.T, s Suite, ways ...Way) {
	s.Bulk, s.Consumers = ahead, max(1, s.Consumers)
	for _, way := range ways {
		t.Run(way.Name, func(t *testing.T) {
			said := &spoken{}
			r := &run{suite: s, target: way.Target, terminal: overhear(t), log: said}
			r.delivery(t, s.Guarantees[0])
			if way.Wrong != "" {
				wrong := way.Target
				wrong.Password = way.Wrong
				r.requireObstacle(t, wrong, driver.BadLogin, way.Says)
			}
			for _, secret := range []string{way.Target.Password, way.Wrong, way.Secret} {
				if secret != "" && strings.Contains(said.String(), secret) {
					t.Errorf("the client's log gives a secret away:\n%s", said)
				}
			}
		})
	}
}

// spoken is everything that a client library logs.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
