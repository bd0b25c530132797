package drivertest

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// Way is a way into a broker that demands it.
type Way struct {
	Name   string        // of the subtest
	Target driver.Target // lets in
	Wrong  string        // a password of the right form that doesn't; empty: there is none to be wrong
	Says   string        // a part of the sentence by which it doesn't
	// Secret is what else must be told nobody, such as a token that was got for the password; empty: nothing.
	Secret string
}

// LogsIn comes in by each way, sends and receives; comes with the wrong secret, which is refused with a sentence; and wants no secret in
// what drivers and their clients say. What a way needs of the server is Target's.
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

// spoken is all that a client library says.
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
