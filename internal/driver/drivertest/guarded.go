package drivertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

// guardedBroker connects to a broker that requires TLS, a client certificate and a login, with all three and without each of
// them, and uses TLS on the plain broker.
func (r *run) guardedBroker(t *testing.T) {
	if r.suite.Guarded == nil {
		testkit.Without(t, "no guarded broker here")
	}
	testkit.Long(t) // it starts a second broker, with TLS; package brokers tries all sockets of all brokers without a certificate even in short tests
	guarded := r.suite.Guarded(t)
	with := func(change func(*driver.Target)) driver.Target {
		to := guarded
		to.TLS = guarded.TLS.Clone()
		change(&to)
		return to
	}
	plain := r.target
	plain.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	t.Run("without leave", func(t *testing.T) {
		for name, c := range map[string]struct {
			to   driver.Target
			want driver.Obstacle
			says string
		}{
			"a wrong password":                          {with(func(to *driver.Target) { to.Password = "not-" + to.Password }), driver.BadLogin, `refused the credentials of user "` + guarded.User + `"`},
			"an unknown user":                           {with(func(to *driver.Target) { to.User = "nobody-knows" }), driver.BadLogin, `refused the credentials of user "nobody-knows"`},
			"no login where one is demanded":            {with(func(to *driver.Target) { to.User, to.Password = "", "" }), driver.BadLogin, "credentials"},
			"no TLS where the port has it":              {with(func(to *driver.Target) { to.TLS = nil }), driver.TLSMismatch, "this port speaks TLS, but TLS was not asked for"},
			"no client certificate where it is needed":  {with(func(to *driver.Target) { to.TLS.Certificates = nil }), driver.TLSMismatch, "client certificate"},
			"a client certificate of another authority": {with(func(to *driver.Target) { to.TLS.Certificates = []tls.Certificate{stranger(t)} }), driver.TLSMismatch, "client certificate that it trusts"},
			"a broker of another authority":             {with(func(to *driver.Target) { to.TLS.RootCAs = x509.NewCertPool() }), driver.TLSMismatch, "the broker's certificate is not trusted"},
			"TLS where the port has none":               {plain, driver.TLSMismatch, "plain port"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel() // most of it is waiting
				r.requireObstacle(t, c.to, c.want, c.says)
			})
		}
	})
	t.Run("all three let in", func(t *testing.T) {
		inside := *r
		inside.target, inside.suite.Bulk = guarded, ahead
		inside.delivery(t, r.suite.Guarantees[0])
	})
}

// stranger is a client certificate that the broker doesn't trust.
func stranger(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// requireObstacle requires Open to fail within the bound, for the given reason, with a sentence that names the address and no password.
func (r *run) requireObstacle(t *testing.T, to driver.Target, want driver.Obstacle, says string) {
	t.Helper()
	err := r.openingFails(t, to)
	var met *driver.ErrConnect
	switch {
	case !errors.As(err, &met) || met.Obstacle != want || !strings.Contains(err.Error(), says):
		t.Errorf("Open failed with %q; want an ErrConnect of kind %q that says %q", err, want, says)
	case !namesAnAddress(err.Error(), to):
		t.Errorf("%q names neither %s nor any of %v", err, to.Addresses[0], to.Endpoints)
	case to.Password != "" && strings.Contains(err.Error(), to.Password):
		t.Errorf("%q gives the password away", err)
	}
}

// namesAnAddress reports whether text names an address of the broker, or of another interface of it that a driver may try first.
func namesAnAddress(text string, of driver.Target) bool {
	for _, endpoint := range of.Endpoints {
		if u, err := url.Parse(endpoint); err == nil && u.Host != "" && strings.Contains(text, u.Host) {
			return true
		}
	}
	return strings.Contains(text, of.Addresses[0])
}
