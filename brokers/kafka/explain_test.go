package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokermark/brokermark/internal/driver"
)

// listening answers connections by serve and closes them after that.
func listening(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c)
			c.Close()
		}
	}()
	return l.Addr().String()
}

// tellVersions answers what a client asks first, and reads its next request: from there on Kafka hangs up on who hasn't
// logged in.
func tellVersions(c net.Conn) {
	request := func() []byte {
		var size [4]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return nil
		}
		body := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(c, body); err != nil {
			return nil
		}
		return body
	}
	asked := request()
	if len(asked) < 8 || binary.BigEndian.Uint16(asked) != uint16(kmsg.ApiVersions) {
		return
	}
	answer := kmsg.NewPtrApiVersionsResponse()
	answer.Version = int16(binary.BigEndian.Uint16(asked[2:]))
	for _, key := range []kmsg.Key{kmsg.ApiVersions, kmsg.Metadata} {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MaxVersion = key.Int16(), 3
		answer.ApiKeys = append(answer.ApiKeys, k)
	}
	body := answer.AppendTo(asked[4:8:8]) // behind the number of the request
	_, _ = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	request()
}

func TestAPortThatClosesAtOnceDemandsNoCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(net.Conn)
		want  driver.Obstacle
	}{
		"at once":                           {func(net.Conn) {}, driver.NotUnderstood},
		"after it told what it understands": {tellVersions, driver.BadLogin},
	} {
		t.Run(name, func(t *testing.T) {
			address := listening(t, c.serve)
			client, err := kgo.NewClient(kgo.SeedBrokers(address))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var e *driver.ErrConnect
			err = explain(driver.Target{Addresses: []string{address}}, client.Ping(ctx))
			if !errors.As(err, &e) || e.Obstacle != c.want {
				t.Errorf("%v; want the obstacle %q", err, c.want)
			}
		})
	}
}

// The client joins again without end, whatever the broker says.
func TestAGroupThatTheBrokerRefusesEndsAConsumer(t *testing.T) {
	for err, ends := range map[error]bool{
		kerr.InvalidSessionTimeout: true, kerr.GroupMaxSizeReached: true, kerr.GroupAuthorizationFailed: true,
		kerr.RebalanceInProgress: false, kerr.CoordinatorNotAvailable: false,
	} {
		if got := fatal(kgo.NewErrFetch(&kgo.ErrGroupSession{Err: err})); (got != nil) != ends {
			t.Errorf("%v: %v", err, got)
		}
	}
}
