package driver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// listen answers every connection and returns its address.
func listen(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				answer(c)
			}()
		}
	}()
	return l.Addr().String()
}

// selfSigned is a certificate for 127.0.0.1 and the pool that trusts it.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

func secured(conf *tls.Config) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.Copy(io.Discard, tls.Server(c, conf)) }
}

func TestAFailedConnectionIsExplained(t *testing.T) {
	pair, pool := selfSigned(t)
	trusting := &tls.Config{RootCAs: pool}
	shown := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
	open := &tls.Config{Certificates: []tls.Certificate{pair}}
	mutual := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	older := mutual.Clone()
	older.MaxVersion = tls.VersionTLS12
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	vanishing := gone.Addr().String()
	_ = gone.Close()
	wordless := func(c net.Conn) {
		asking := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
		_ = tls.Server(c, asking).Handshake()
	}
	hangsUp := func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	replies := func(c net.Conn) { _, _ = c.Read(make([]byte, 8)); _, _ = c.Write([]byte("AMQP\x00\x00\x09\x01")) }
	for name, c := range map[string]struct {
		address string
		conf    *tls.Config
		met     error
		want    driver.Obstacle
		says    string
	}{
		"no server listens":                  {vanishing, nil, io.EOF, driver.Unreachable, "is unreachable: connection refused"},
		"no server listens, TLS":             {vanishing, trusting, io.EOF, driver.Unreachable, "is unreachable: connection refused"},
		"plain client, TLS port":             {listen(t, secured(open)), nil, io.EOF, driver.TLSMismatch, "this port speaks TLS, but TLS was not asked for"},
		"plain client, mutual port":          {listen(t, secured(mutual)), nil, io.EOF, driver.TLSMismatch, "this port speaks TLS"},
		"plain client, mutual port, TLS 1.2": {listen(t, secured(older)), nil, io.EOF, driver.TLSMismatch, "this port speaks TLS"},
		"plain client that tried TLS":        {listen(t, secured(open)), nil, x509.UnknownAuthorityError{}, driver.TLSMismatch, "this port speaks TLS"},
		"TLS client, port hangs up":          {listen(t, hangsUp), trusting, io.EOF, driver.TLSMismatch, "TLS was asked for, but this is a plain port"},
		"TLS client, port replies":           {listen(t, replies), trusting, io.EOF, driver.TLSMismatch, "plain port"},
		"TLS client, silent port":            {listen(t, silent), trusting, io.EOF, driver.TLSMismatch, "the handshake was not answered"},
		"another authority":                  {listen(t, secured(open)), &tls.Config{}, io.EOF, driver.TLSMismatch, "the broker's certificate is not trusted"},
		"a certificate of another address":   {listen(t, secured(open)), &tls.Config{RootCAs: pool, ServerName: "elsewhere"}, io.EOF, driver.TLSMismatch, "the broker's certificate was made for another address: certificate is not valid for any names, but wanted to match elsewhere"},
		"a certificate of yesterday":         {listen(t, secured(open)), &tls.Config{RootCAs: pool, Time: func() time.Time { return time.Now().Add(48 * time.Hour) }}, io.EOF, driver.TLSMismatch, "the broker's certificate can't be used: certificate has expired"},
		"no client certificate":              {listen(t, secured(mutual)), trusting, io.EOF, driver.TLSMismatch, "the broker demands a client certificate"},
		"no client certificate, no alert":    {listen(t, wordless), trusting, io.EOF, driver.TLSMismatch, "the broker demands a client certificate"},
		"certificate not trusted, no alert":  {listen(t, wordless), shown, io.EOF, driver.TLSMismatch, "the broker demands a client certificate that it trusts"},
		"no client certificate, TLS 1.2":     {listen(t, secured(older)), trusting, io.EOF, driver.TLSMismatch, "a client certificate"},
		"alert in the client's error":        {listen(t, silent), shown, &net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, driver.TLSMismatch, "the broker demands a client certificate that it trusts"},
		"right on both sides, but silent":    {listen(t, secured(mutual)), shown, context.DeadlineExceeded, driver.NoAnswer, "accepted the connection but did not answer"},
		"plain and silent":                   {listen(t, silent), nil, context.DeadlineExceeded, driver.NoAnswer, "did not answer"},
		"plain, another protocol":            {listen(t, replies), nil, errors.New("what?"), driver.NotUnderstood, "another protocol on this port?): what?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := driver.Explain("kafka", []string{c.address}, driver.Target{TLS: c.conf}, c.met)
			var e *driver.ErrConnect
			if !errors.As(err, &e) || e.Obstacle != c.want || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "kafka at "+c.address) {
				t.Errorf("%v; want %s with %q", err, c.want, c.says)
			}
			if strings.Count(err.Error(), c.address) != 1 || e.Obstacle == driver.TLSMismatch && strings.Contains(err.Error(), "EOF") {
				t.Errorf("the address or the cause stands there twice: %v", err)
			}
		})
	}
}

func TestWhatIsNoConnectionsFaultPassesUnexplained(t *testing.T) {
	refusal := driver.Unsupported("delivery: exactly-once", "why")
	login := driver.RefusedLogin("nats", "h:1", driver.Target{User: "eve", Password: "secret"}, io.EOF)
	for _, err := range []error{nil, refusal, login, fmt.Errorf("stopped: %w", context.Canceled)} {
		if got := driver.Explain("nats", []string{"127.0.0.1:1"}, driver.Target{}, err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	if want := `nats at h:1 refused the credentials of user "eve": EOF`; login.Error() != want {
		t.Errorf("%q, want %q", login, want)
	}
	wordless := driver.RefusedLogin("artemis", "h:1", driver.Target{User: "eve"}, errors.New("SASL PLAIN auth failed with code 0x1: "))
	if got, want := wordless.Error(), `artemis at h:1 refused the credentials of user "eve": SASL PLAIN auth failed with code 0x1`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := driver.RefusedLogin("nats", "h:1", driver.Target{}, nil).Error(), "nats at h:1 demands credentials, and none were given"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEveryAddressIsExplained(t *testing.T) {
	err := driver.Explain("kafka", []string{"127.0.0.1:1", "127.0.0.1:2"}, driver.Target{}, io.EOF)
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1 is unreachable") || !strings.Contains(err.Error(), "127.0.0.1:2 is unreachable") {
		t.Error(err)
	}
}

// garbled sends something else in place of an alert.
type garbled struct{ net.Conn }

func (g garbled) Write(b []byte) (int, error) {
	if len(b) > 0 && b[0] == 21 { // an alert
		b = append([]byte{22}, b[1:]...)
	}
	return g.Conn.Write(b)
}

// Kafka before 3 answers the missing certificate so.
func TestAPortThatAskedForACertificateIsNotPlain(t *testing.T) {
	own, pool := selfSigned(t)
	address := listen(t, func(c net.Conn) {
		_ = tls.Server(garbled{c}, &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}).Handshake()
	})
	to := driver.Target{Addresses: []string{address}, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	conn, err := tls.Dial("tcp", address, to.TLS)
	if err == nil {
		conn.Close()
	}
	var explained *driver.ErrConnect
	if !errors.As(driver.Explain("x", to.Addresses, to, err), &explained) || explained.Detail != driver.DemandsCertificate {
		t.Errorf("%v is explained as %+v, want %q", err, explained, driver.DemandsCertificate)
	}
}
