package rabbitmq

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/oauth"
	"github.com/brokermark/brokermark/internal/driver"
)

// guest returns t with the server's default user if t has no user.
func guest(t driver.Target) driver.Target {
	if t.Login == driver.ByPassword && t.User == "" {
		t.User, t.Password = "guest", "guest"
	}
	return t
}

// login returns the client's authentication.
func (d *rabbit) login(ctx context.Context) (amqp.Authentication, error) {
	if d.cfg.Target.Login == driver.ByCertificate {
		return &amqp.ExternalAuth{}, nil
	}
	user, password, err := d.tokens.Plain(ctx)
	return &amqp.PlainAuth{Username: user, Password: password}, err
}

// renew sends the server the next token before conn's token expires: the server refuses requests with an expired token, and ends
// the connection. It returns when conn has ended.
func (d *rabbit) renew(conn *amqp.Connection, ended <-chan *amqp.Error) {
	for {
		lives := d.tokens.Lives()
		if lives <= 0 { // the endpoint doesn't report a lifetime
			return
		}
		select {
		case <-ended:
			return
		case <-time.After(lives):
		}
		ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
		_, token, err := d.tokens.Plain(ctx)
		cancel()
		if err == nil {
			err = conn.UpdateSecret(token, "a new token")
		}
		if err != nil {
			clientLog.Printf("%s: the next token: %v", oauth.Name, err)
			return
		}
	}
}
