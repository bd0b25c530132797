package lab

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/study"
)

// Clients in this process reach a broker by a driver.Target, with passwords and certificates as values. Those in other processes
// (agents, relays, parts of a pipeline) get a link.Broker, which is plain data. For a broker that somebody else runs, the spec names
// files and environment variables that hold the credentials. They are read here, and none of them gets into a record.

// attachedTarget returns the running broker that a spec names, with the password and the certificates that its clients need. Errors
// are of type *driver.ErrSetting.
func attachedTarget(s study.Spec) (driver.Target, error) {
	t := driver.Target{Addresses: s.Attach, User: s.User}
	var err error
	if t.Password, err = password(s); err != nil || s.TLS == study.TLSOff {
		return t, err
	}
	t.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CAFile != "" {
		if t.TLS.RootCAs, err = authorities(s.CAFile); err != nil {
			return t, err
		}
	}
	if s.TLS == study.TLSMutual {
		pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
		if err != nil {
			return t, unusable("certFile", "certFile %s with keyFile %s can't be used: %w", s.CertFile, s.KeyFile, withoutPath(err))
		}
		t.TLS.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// password returns the password that a spec names by passwordEnv or passwordFile; empty if it names none. Of a file, the first
// line counts.
func password(s study.Spec) (string, error) {
	switch {
	case s.PasswordEnv != "":
		p, ok := os.LookupEnv(s.PasswordEnv)
		if !ok {
			return "", unusable("passwordEnv", "passwordEnv: there is no environment variable %s", s.PasswordEnv)
		}
		return p, nil
	case s.PasswordFile != "":
		text, err := credentialFile("passwordFile", s.PasswordFile)
		if err != nil {
			return "", err
		}
		line, _, _ := bytes.Cut(text, []byte("\n"))
		return strings.TrimSuffix(string(line), "\r"), nil
	}
	return "", nil
}

// authorities reads the certificates of the authorities that the broker's certificate may be signed by.
func authorities(file string) (*x509.CertPool, error) {
	text, err := credentialFile("caFile", file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, unusable("caFile", "caFile %s holds no certificate in PEM form", file)
	}
	return pool, nil
}

// credentialFile reads the file that a setting names. The bound keeps a mistaken name, of a device for example, from filling the
// memory.
func credentialFile(setting, file string) ([]byte, error) {
	const maxBytes = 1 << 20
	text, err := bounded.File(file, maxBytes)
	if err != nil {
		return nil, unusable(setting, "%s %s can't be read: %w", setting, file, withoutPath(err))
	}
	return text, nil
}

// unusable returns the error of a setting that can't be used as it is.
func unusable(setting, format string, args ...any) error {
	return &driver.ErrSetting{Path: setting, Err: fmt.Errorf(format, args...)}
}

// withoutPath returns err without the path of a file, for a sentence that names the file already.
func withoutPath(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// link describes the broker for other processes. The topology is left to the caller.
func (b *bench) link(c driver.Config) (link.Broker, error) {
	s := b.spec
	if len(s.Attach) > 0 {
		to, err := Link(s)
		to.Version = c.Target.Version
		return to, err
	}
	to := link.Broker{
		Broker: s.Broker, Version: c.Target.Version, Addresses: c.Target.Addresses, Endpoints: c.Target.Endpoints, Server: c.Target.Server,
		Guarantee: c.Guarantee, Client: s.Client, Topic: s.Topic,
	}
	if b.broker.instance == nil { // it runs in this process
		return to, nil
	}
	if f := b.broker.instance.TLSFiles(); f != nil {
		to.TLS, to.CA = true, f.CA
		if f.Mutual {
			to.Cert, to.Key = f.ClientCert, f.ClientKey
		}
	}
	return to, nil
}

// Link describes the running broker that a spec attaches to, for other processes. It holds the text of certificates, not their
// files: another process may run as a user that can't read them. The topology is left to the caller.
func Link(s study.Spec) (link.Broker, error) {
	to := link.Broker{
		Broker: s.Broker, Version: s.Version, Addresses: s.Attach, Guarantee: guarantee(s), Client: s.Client, Topic: s.Topic,
		TLS: s.TLS != study.TLSOff, User: s.User,
	}
	var errPassword, errCA, errCert, errKey error
	to.Password, errPassword = password(s)
	if to.TLS && s.CAFile != "" {
		to.CA, errCA = carried("caFile", s.CAFile)
	}
	if s.TLS == study.TLSMutual {
		to.Cert, errCert = carried("certFile", s.CertFile)
		to.Key, errKey = carried("keyFile", s.KeyFile)
	}
	return to, errors.Join(errPassword, errCA, errCert, errKey)
}

// carried returns the text of the file that a setting names, in the form in which a link.Broker takes it.
func carried(setting, file string) (string, error) {
	text, err := credentialFile(setting, file)
	if err != nil {
		return "", err
	}
	return link.Text(text), nil
}
