package driver

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"time"
)

const (
	dialBudget      = time.Second     // on the way to a port that has been tried just before
	handshakeBudget = 2 * time.Second // longer than a healthy broker needs
	alertBudget     = time.Second     // until a broker says that it misses a client certificate

	unanswered       = "TLS was asked for, and the handshake was not answered; this may be a plain port"
	plainPort        = "TLS was asked for, but this is a plain port"
	tlsPort          = "this port speaks TLS, but TLS was not asked for"
	untrusted        = "the broker's certificate is not trusted; caFile (--ca-file FILE) names the authority that signed it"
	otherName        = "the broker's certificate was made for another address: "
	unusable         = "the broker's certificate can't be used: "
	refusedHandshake = "the broker broke the handshake off; it may demand a client certificate or another version of TLS"
)

// DemandsCertificate is the Detail of a TLSMismatch whose client has no certificate, or none that the broker trusts.
const DemandsCertificate = "the broker demands a client certificate that it trusts"

// diagnose tells why a client that met err couldn't use address.
func diagnose(address string, conf *tls.Config, err error) *ErrConnect {
	if detail := cmp.Or(inCertificates(conf, err), inAlert(conf, err)); detail != "" {
		return &ErrConnect{Obstacle: TLSMismatch, Detail: detail, Err: err}
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialBudget)
	defer cancel()
	raw, dialErr := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if dialErr != nil {
		return &ErrConnect{Obstacle: Unreachable, Err: dialErr}
	}
	defer raw.Close()
	detail := ""
	if conf == nil {
		detail = askPlain(raw)
	} else {
		detail = askTLS(raw, address, conf)
	}
	switch {
	case detail != "":
		return &ErrConnect{Obstacle: TLSMismatch, Detail: detail, Err: err}
	case timedOut(err):
		return &ErrConnect{Obstacle: NoAnswer, Err: err}
	}
	return &ErrConnect{Obstacle: NotUnderstood, Err: err}
}

// inCertificates reads what a client's error says about certificates; a client may try TLS unasked, because its
// protocol told it that the broker wants TLS.
func inCertificates(conf *tls.Config, err error) string {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	hostname, isHostname := errors.AsType[x509.HostnameError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case !unverified && !unknown && !isHostname && !isInvalid:
		return ""
	case conf == nil:
		return tlsPort
	case isHostname:
		return otherName + withoutPackage(hostname)
	case isInvalid:
		return unusable + withoutPackage(invalid)
	}
	return untrusted
}

// withoutPackage is what a certificate's fault is called, without the name of the library that found it.
func withoutPackage(err error) string { return strings.TrimPrefix(err.Error(), "x509: ") }

// inAlert reads what a client's error says about an alert that the broker sent.
func inAlert(conf *tls.Config, err error) string {
	switch {
	case conf == nil || !alerted(err):
		return ""
	case strings.Contains(err.Error(), "certificate"):
		return DemandsCertificate
	}
	return refusedHandshake
}

// askPlain finds out whether a port that a client used without TLS speaks TLS: only then is a ClientHello answered by
// a handshake or an alert.
func askPlain(raw net.Conn) string {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeBudget)
	defer cancel()
	met := tls.Client(raw, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) // nothing is sent, nobody is believed
	if met == nil || alerted(met) {
		return tlsPort
	}
	return ""
}

// askTLS repeats the handshake of a client that was given conf.
func askTLS(raw net.Conn, address string, conf *tls.Config) string {
	asked := false
	conf = NoticeDemand(conf, func() { asked = true })
	conf.VerifyConnection = nil
	if conf.ServerName == "" {
		conf.ServerName, _, _ = net.SplitHostPort(address)
	}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeBudget)
	defer cancel()
	secured := tls.Client(raw, conf)
	met := secured.HandshakeContext(ctx)
	switch {
	case met == nil: // since TLS 1.3 a client learns only after the handshake that its certificate is missed
		_ = raw.SetReadDeadline(time.Now().Add(alertBudget))
		if _, err := secured.Read(make([]byte, 1)); alerted(err) || asked && err != nil && !timedOut(err) {
			return DemandsCertificate // some hang up without a word
		}
		return ""
	case alerted(met):
		return cmp.Or(inAlert(conf, met), refusedHandshake)
	case inCertificates(conf, met) != "":
		return inCertificates(conf, met)
	case spoken(met):
		return ""
	case asked: // Kafka before 3 answers the missing certificate with what is no alert
		return DemandsCertificate
	case timedOut(met):
		return unanswered
	}
	return plainPort
}

// NoticeDemand is a copy of conf that calls asked when the other side asks for a client certificate: since TLS 1.3 it
// says only after the handshake that it misses one, or doesn't trust it, and some hang up without saying so.
func NoticeDemand(conf *tls.Config, asked func()) *tls.Config {
	conf = conf.Clone()
	given, chosen := conf.Certificates, conf.GetClientCertificate
	conf.GetClientCertificate = func(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked()
		if chosen != nil {
			return chosen(request)
		}
		for i := range given { // as crypto/tls chooses: one that the other side says it would trust, else none
			if request.SupportsCertificate(&given[i]) == nil {
				return &given[i], nil
			}
		}
		return &tls.Certificate{}, nil
	}
	return conf
}

// spoken reports whether a NATS server has begun with its INFO, which it sends before TLS: whether it wants TLS stands
// in there, and its client has read it.
func spoken(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) && string(record.RecordHeader[:4]) == "INFO"
}

// alerted reports whether the other side has sent a TLS alert.
func alerted(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}
