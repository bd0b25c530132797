package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	bearer "github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/brokermark/brokermark/brokers/internal/oauth"
	"github.com/brokermark/brokermark/internal/driver"
)

// mechanism is the setting that says how user and password are presented.
const mechanism = "sasl.mechanism"

// fitsLogin refuses a mechanism for which there is no password.
func fitsLogin(c driver.Config) error {
	switch chosen := c.Client.String(mechanism); {
	case chosen == "PLAIN":
		return nil
	case c.Target.Login != driver.ByPassword:
		return driver.Unsupported("client."+mechanism+": "+chosen, "with login: %s it is %s", c.Target.Login, login(c.Target, "").Name())
	case c.Target.User == "":
		return driver.Unsupported("client."+mechanism+": "+chosen, "no user is given to log in as")
	}
	return nil
}

// login is t's way in, with user and password as chosen; nil: no login is needed.
func login(t driver.Target, chosen string) sasl.Mechanism {
	switch {
	case t.Login == driver.ByToken:
		return judged{bearer.Auth{Token: t.Password}.AsMechanism()}
	case t.Login == driver.ByOAuth:
		source := oauth.NewSource(t)
		return judged{bearer.Oauth(func(ctx context.Context) (bearer.Auth, error) {
			token, err := source.Token(ctx)
			return bearer.Auth{Token: token}, err
		})}
	case t.Login == driver.ByAWS:
		key, session, _ := strings.Cut(strings.TrimSpace(t.Password), "\n")
		return aws.Auth{AccessKey: t.User, SecretKey: strings.TrimSpace(key), SessionToken: strings.TrimSpace(session)}.AsManagedStreamingIAMMechanism()
	case t.User == "":
		return nil
	case chosen == "SCRAM-SHA-256":
		return scram.Auth{User: t.User, Pass: t.Password}.AsSha256Mechanism()
	case chosen == "SCRAM-SHA-512":
		return scram.Auth{User: t.User, Pass: t.Password}.AsSha512Mechanism()
	}
	return plain.Auth{User: t.User, Pass: t.Password}.AsMechanism()
}

// judged is a mechanism that says so where the broker refuses a token: its answer is no error of the protocol but a text (RFC 7628, 3.2.2),
// which the client doesn't read.
type judged struct{ sasl.Mechanism }

var errToken = errors.New("the broker refuses the token")

func (j judged) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	session, first, err := j.Mechanism.Authenticate(ctx, host)
	return judgement{session}, first, err
}

type judgement struct{ sasl.Session }

func (j judgement) Challenge(answer []byte) (bool, []byte, error) {
	if len(answer) == 0 {
		return j.Session.Challenge(answer)
	}
	var said struct{ Status string }
	if json.Unmarshal(answer, &said) != nil || said.Status == "" {
		return false, nil, errToken
	}
	return false, nil, fmt.Errorf("%w: %s", errToken, said.Status)
}
