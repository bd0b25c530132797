package natsio

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/internal/driver"
)

// The server hangs up as soon as it has said why, which the client may find out before it has read that.
func TestWhyAServerTakesNoMoreConnectionsIsSaidInItsWords(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, MaxConn: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server doesn't start")
	}
	client, err := driver.Decode(ClientSettings, driver.ClientScope, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDialer(driver.Config{Target: driver.Target{Addresses: []string{s.Addr().String()}}, Client: client})
	first, err := d.Dial("first", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.Close)
	for range 20 {
		_, err := d.Dial("second", nil, nil)
		refused, ok := errors.AsType[*driver.ErrConnect](err)
		if !ok || refused.Obstacle != driver.TurnedAway || refused.Err.Error() != "maximum connections exceeded" && refused.Err.Error() != "nats: maximum connections exceeded" {
			t.Fatalf("%v", err)
		}
	}
}
