package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
)

// Obstacle is one of the usual reasons why a broker can't be used at an address.
type Obstacle string

// The obstacles that are distinguished.
const (
	Unreachable   Obstacle = "unreachable"  // nothing listens there
	BadLogin      Obstacle = "login"        // wrong user or password, or none although the broker requires one
	TLSMismatch   Obstacle = "tls"          // TLS on one side only, or a certificate that the other side doesn't accept
	NoAnswer      Obstacle = "no answer"    // the connection was accepted, but the broker sent nothing
	TurnedAway    Obstacle = "refused"      // the broker gave another reason
	NotUnderstood Obstacle = "no handshake" // the peer answers, but not with this broker's protocol
	Misled        Obstacle = "advertised"   // the broker advertises an address that can't be reached
)

// ErrConnect is the error of a broker that can't be used at an address. Its sentence names the address and the obstacle, never a
// password.
type ErrConnect struct {
	Broker   string
	Address  string
	Obstacle Obstacle
	Login    Login  // BadLogin
	User     string // BadLogin: empty if none was given
	Detail   string // TLSMismatch: what each side wants, as a clause; Misled: the broker's setting that decides what it advertises
	By       string // Misled: the address of the broker that advertised Address
	Err      error  // the client's own error
}

func (e *ErrConnect) Error() string {
	var s string
	switch e.Obstacle {
	case Unreachable:
		s = fmt.Sprintf("%s at %s is unreachable", e.Broker, e.Address)
	case BadLogin:
		s = fmt.Sprintf("%s at %s refused %s", e.Broker, e.Address, e.Login.shown(e.User))
		if e.Login == ByPassword && e.User == "" {
			s = fmt.Sprintf("%s at %s demands credentials, and none were given", e.Broker, e.Address)
		}
	case TLSMismatch:
		s = fmt.Sprintf("TLS mismatch with %s at %s: %s", e.Broker, e.Address, e.Detail)
	case Misled:
		s = fmt.Sprintf("%s at %s tells its clients to connect to %s (%s), which can't be reached from here", e.Broker, e.By, e.Address, e.Detail)
	case TurnedAway:
		s = fmt.Sprintf("%s at %s refused the connection", e.Broker, e.Address)
	case NoAnswer:
		s = fmt.Sprintf("%s at %s accepted the connection but did not answer", e.Broker, e.Address)
	default:
		s = fmt.Sprintf("%s at %s can't be used (another protocol on this port?)", e.Broker, e.Address)
	}
	if why := e.cause(); why != "" {
		return s + ": " + why
	}
	return s
}

// cause is the part of the client's own error that the sentence doesn't have yet: it already names the address and the mismatch.
func (e *ErrConnect) cause() string {
	err := e.Err
	var op *net.OpError
	var call *os.SyscallError
	switch {
	case err == nil, e.Obstacle == TLSMismatch && (e.Detail != refusedHandshake || !alerted(err)):
		return ""
	case (e.Obstacle == Unreachable || e.Obstacle == Misled) && errors.As(err, &op):
		err = op.Err
		if errors.As(err, &call) {
			err = call.Err
		}
	}
	// Some clients end their error with the broker's reason, which is empty here.
	return strings.TrimRight(err.Error(), ": ")
}

func (e *ErrConnect) Unwrap() error { return e.Err }

// RefusedLogin makes the error of a client whose credentials were refused or are missing.
func RefusedLogin(broker, address string, t Target, err error) error {
	return &ErrConnect{Broker: broker, Address: address, Obstacle: BadLogin, Login: t.Login, User: t.User, Err: err}
}

// Refused makes the error of a client that was refused for another reason.
func Refused(broker, address string, err error) error {
	return &ErrConnect{Broker: broker, Address: address, Obstacle: TurnedAway, Err: err}
}

// Explain finds out why a client could connect to none of the addresses: from err if its text shows the reason, else by connecting to the
// ports itself, which takes at most four seconds. It returns refusals, other explanations and interruptions unchanged.
func Explain(broker string, addresses []string, t Target, err error) error {
	_, refused := errors.AsType[*ErrUnsupported](err)
	_, explained := errors.AsType[*ErrConnect](err)
	if err == nil || refused || explained || errors.Is(err, context.Canceled) {
		return err
	}
	if len(addresses) == 0 {
		return errors.New("no address to connect to")
	}
	reasons := make([]error, len(addresses))
	var all sync.WaitGroup
	for i, address := range addresses {
		all.Go(func() {
			e := diagnose(address, t.TLS, err)
			e.Broker, e.Address = broker, address
			reasons[i] = e
		})
	}
	all.Wait()
	return errors.Join(reasons...)
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
