package kafka

import (
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
)

func TestWhatBecameOfACommitIsAskedForAsLongAsMessagesMayWait(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	livetest.Must(t, err)
	nobody := free.Addr().String()
	livetest.Must(t, free.Close())
	client, err := kgo.NewClient(kgo.SeedBrokers(nobody), kgo.TransactionalID("t"))
	livetest.Must(t, err)
	t.Cleanup(client.Close)
	for _, patience := range []time.Duration{50 * time.Millisecond, time.Second} {
		began := time.Now()
		committed, known := fate(t.Context(), client, patience)
		if took := time.Since(began); committed || known || took < patience || took > patience+5*time.Second {
			t.Errorf("nobody answered: committed %t, known %t, after %v; %v were allowed", committed, known, took, patience)
		}
	}
}
