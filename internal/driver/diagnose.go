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
	dialBudget      = time.Second     // to a port that the client has just tried
	handshakeBudget = 2 * time.Second // longer than a healthy broker needs
	alertBudget     = time.Second     // time for a broker to report a missing client certificate

	unanswered       = "TLS was asked for, and the handshake was not answered; this may be a plain port"
	plainPort        = "TLS was asked for, but this is a plain port"
	tlsPort          = "this port speaks TLS, but TLS was not asked for"
	untrusted        = "the broker's certificate is not trusted; caFile (--ca-file FILE) names the authority that signed it"
	otherName        = "the broker's certificate was made for another address: "
	unusable         = "the broker's certificate can't be used: "
	refusedHandshake = "the broker broke the handshake off; it may demand a client certificate or another version of TLS"
)

// DemandsCertificate is the Detail of a TLSMismatch whose client has no certificate that the broker trusts.
const DemandsCertificate = "the broker demands a client certificate that it trusts"

// diagnose returns why a client that met err couldn't use address.
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

// inCertificates reads from a client's error what is wrong with certificates. Even a client without TLS settings may have tried
// TLS, because the broker's protocol told it to.
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

// withoutPackage returns a certificate error without the name of the library that found it.
func withoutPackage(err error) string { return strings.TrimPrefix(err.Error(), "x509: ") }

// inAlert reads from a client's error which TLS alert the broker sent.
func inAlert(conf *tls.Config, err error) string {
	switch {
	case conf == nil || !alerted(err):
		return ""
	case strings.Contains(err.Error(), "certificate"):
		return DemandsCertificate
	}
	return refusedHandshake
}

// askPlain finds out whether a port that a client used without TLS speaks TLS: only such a port answers a ClientHello with a
// handshake or an alert.
func askPlain(raw net.Conn) string {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeBudget)
	defer cancel()
	met := tls.Client(raw, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) // nothing secret is sent, so the peer need not be verified
	if met == nil || alerted(met) {
		return tlsPort
	}
	return ""
}

// askTLS repeats the handshake of a client with conf.
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
	case met == nil: // since TLS 1.3 a client learns only after the handshake that the server wanted its certificate
		_ = raw.SetReadDeadline(time.Now().Add(alertBudget))
		if _, err := secured.Read(make([]byte, 1)); alerted(err) || asked && err != nil && !timedOut(err) {
			return DemandsCertificate // some close the connection without an alert
		}
		return ""
	case alerted(met):
		return cmp.Or(inAlert(conf, met), refusedHandshake)
	case inCertificates(conf, met) != "":
		return inCertificates(conf, met)
	case spoken(met):
		return ""
	case asked: // Kafka before 3 answers a missing certificate with bytes that are no alert
		return DemandsCertificate
	case timedOut(met):
		return unanswered
	}
	return plainPort
}

// NoticeDemand returns a copy of conf that calls asked when the server asks for a client certificate. Since TLS 1.3 the server reports
// only after the handshake that the certificate is missing or not trusted, and some servers close the connection without reporting it.
func NoticeDemand(conf *tls.Config, asked func()) *tls.Config {
	conf = conf.Clone()
	given, chosen := conf.Certificates, conf.GetClientCertificate
	conf.GetClientCertificate = func(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked()
		if chosen != nil {
			return chosen(request)
		}
		for i := range given { // as crypto/tls chooses: a certificate that the server would trust, else none
			if request.SupportsCertificate(&given[i]) == nil {
				return &given[i], nil
			}
		}
		return &tls.Certificate{}, nil
	}
	return conf
}

// spoken reports whether a NATS server has sent its INFO, which comes before TLS and says whether the server wants TLS. The
// client has then read it.
func spoken(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) && string(record.RecordHeader[:4]) == "INFO"
}

// alerted reports whether the server has sent a TLS alert.
func alerted(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}
