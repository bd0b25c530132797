package rocketmq

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	openPatience = 4 * time.Second
	firstPause   = 50 * time.Millisecond // between attempts to connect
	lastPause    = 250 * time.Millisecond
	largestReply = 64 << 20
	protocol     = "5.1.3" // as which version of the client it speaks
)

// link is one connection to a proxy, which knows it by a client ID.
type link struct {
	v2.MessagingServiceClient
	conn *grpc.ClientConn
	id   string
	head metadata.MD
}

// dial makes a link; it connects with the first call. The turn chooses among several proxies.
func dial(c driver.Config, turn int) (*link, error) {
	if len(c.Target.Addresses) == 0 {
		return nil, fmt.Errorf("no address to connect to")
	}
	address := c.Target.Addresses[turn%len(c.Target.Addresses)]
	secure := insecure.NewCredentials()
	if c.Target.TLS != nil {
		secure = credentials.NewTLS(socket.ForServer(c.Target.TLS, address))
	}
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(secure), grpc.WithNoProxy(), grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestReply)), grpc.WithIdleTimeout(0),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: firstPause, Multiplier: 1.6, MaxDelay: lastPause}, MinConnectTimeout: openPatience,
		}))
	if err != nil {
		return nil, err
	}
	id := "brokermark-" + rand.Text()
	return &link{
		MessagingServiceClient: v2.NewMessagingServiceClient(conn), conn: conn, id: id,
		head: metadata.Pairs("x-mq-client-id", id, "x-mq-language", "GO", "x-mq-protocol", "GRPC_V2", "x-mq-client-version", protocol),
	}, nil
}

func (l *link) with(ctx context.Context) context.Context {
	return metadata.NewOutgoingContext(ctx, l.head)
}

// answers asks a question that any proxy answers: that it doesn't know this client.
func (l *link) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	_, err := l.Heartbeat(l.with(ctx), &v2.HeartbeatRequest{ClientType: v2.ClientType_PRODUCER})
	return err
}

func (l *link) close() { _ = l.conn.Close() }

// lost reports whether a call has no outcome because its connection was cut, or could not be made.
func lost(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded, codes.Internal, codes.Aborted:
		return true
	}
	return false
}

// refusal returns the server's answer as an error, unless it is success.
func refusal(s *v2.Status) error {
	switch code := s.GetCode(); {
	case code == v2.Code_OK:
		return nil
	case code == v2.Code_TOO_MANY_REQUESTS, code >= v2.Code_INTERNAL_ERROR: // these pass: the broker is busy, or late with its flush
		return fmt.Errorf("%w: the server answered %v: %s", driver.ErrDisconnected, code, s.GetMessage())
	default:
		return fmt.Errorf("the server answered %v: %s", code, s.GetMessage())
	}
}
