package lab

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
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
	c, err := readCredentials(s)
	t := driver.Target{Addresses: s.Attach, Login: driver.Login(s.Login), User: s.User, Password: c.password, OAuth: driver.OAuth(s.OAuth)}
	if err != nil || s.TLS == study.TLSOff {
		return t, err
	}
	t.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if c.ca != nil {
		t.TLS.RootCAs = x509.NewCertPool()
		if !t.TLS.RootCAs.AppendCertsFromPEM(c.ca) {
			return t, settingError("caFile", "caFile %s holds no certificate in PEM form", s.CAFile)
		}
	}
	if c.cert != nil {
		pair, err := tls.X509KeyPair(c.cert, c.key)
		if err != nil {
			return t, unusablePair(s, err)
		}
		t.TLS.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// Overheard returns a clause for each secret of the spec that crosses the network unencrypted, with the host.
func Overheard(s study.Spec) (said []string) {
	hear := func(what, host, because string) {
		if host != "localhost" && !net.ParseIP(host).IsLoopback() { // a name is no IP address
			said = append(said, fmt.Sprintf("the %s crosses the network to %s unencrypted: %s", what, host, because))
		}
	}
	if u, err := url.Parse(s.OAuth.URL); err == nil && u.Scheme == "http" {
		hear("password of "+s.User, u.Hostname(), "oauth.url begins with http:")
	}
	what := "password of " + s.User
	switch s.Login {
	case study.LoginToken, study.LoginOAuth:
		what = "token"
	case study.LoginNkey, study.LoginCredentials, study.LoginAWS: // what crosses proves that there is a secret
		return said
	}
	if s.User == "" && s.Login == "" {
		return said
	}
	for _, name := range slices.Sorted(maps.Keys(s.Client)) { // such as Pulsar's admin interface
		if u, err := url.Parse(fmt.Sprint(s.Client[name])); err == nil && u.Scheme == "http" {
			hear(what, u.Hostname(), "client."+name+" begins with http:")
		}
	}
	if s.TLS != study.TLSOff {
		return said
	}
	for _, address := range s.Attach {
		if host, _, err := net.SplitHostPort(address); err == nil {
			hear(what, host, "--tls is off")
		}
	}
	return said
}

// credentials are what clients show to a broker that somebody else runs, and what they check it by.
type credentials struct {
	password      string // empty if the spec names none
	ca, cert, key []byte // in PEM form; nil if the spec names none
}

// readCredentials reads the credentials that a spec names.
func readCredentials(s study.Spec) (c credentials, err error) {
	if c.password, err = password(s); err != nil {
		return c, err
	}
	if s.TLS != study.TLSOff && s.CAFile != "" {
		if c.ca, err = credentialFile(s.CAFile); err != nil {
			return c, unreadable("caFile", s.CAFile, err)
		}
	}
	if s.TLS == study.TLSMutual {
		if c.cert, err = credentialFile(s.CertFile); err == nil {
			c.key, err = credentialFile(s.KeyFile)
		}
		if err != nil {
			return c, unusablePair(s, err)
		}
	}
	return c, nil
}

// password returns the password that a spec names by passwordEnv, or by passwordFile: the file's first line, or all of it where the
// login has several. It is empty if the spec names none.
func password(s study.Spec) (string, error) {
	if s.PasswordEnv != "" {
		p := os.Getenv(s.PasswordEnv)
		if p == "" {
			return "", settingError("passwordEnv", "passwordEnv: there is no environment variable %s, or it is empty", s.PasswordEnv)
		}
		return p, nil
	}
	if s.PasswordFile == "" {
		return "", nil
	}
	text, err := credentialFile(s.PasswordFile)
	if err != nil {
		return "", unreadable("passwordFile", s.PasswordFile, err)
	}
	if s.Login == study.LoginCredentials || s.Login == study.LoginAWS {
		if strings.TrimSpace(string(text)) == "" {
			return "", settingError("passwordFile", "passwordFile %s is empty", s.PasswordFile)
		}
		return string(text), nil
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", settingError("passwordFile", "passwordFile %s: its first line, which is the password, is empty", s.PasswordFile)
	}
	return line, nil
}

// credentialFile reads a file of credentials. Its errors do not repeat the file's name, which the sentences around them have. The bound
// keeps a mistaken name, of a device for example, from filling the memory.
func credentialFile(file string) ([]byte, error) {
	const maxBytes = 1 << 20
	text, err := bounded.File(file, maxBytes)
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	return text, err
}

// settingError returns the error of a setting that can't be used as it is.
func settingError(setting, format string, args ...any) error {
	return &driver.ErrSetting{Path: setting, Err: fmt.Errorf(format, args...)}
}

func unreadable(setting, file string, err error) error {
	return settingError(setting, "%s %s can't be read: %w", setting, file, err)
}

func unusablePair(s study.Spec, err error) error {
	return settingError("certFile", "certFile %s with keyFile %s can't be used: %w", s.CertFile, s.KeyFile, err)
}

// brokerLink describes the broker for other processes. The topology is left to the caller.
func (b *bench) brokerLink(c driver.Config) (link.Broker, error) {
	if len(b.spec.Attach) > 0 {
		return Link(b.spec)
	}
	l := link.Broker{
		Broker: b.spec.Broker, Version: c.Target.Version, Addresses: c.Target.Addresses, Endpoints: c.Target.Endpoints, Server: c.Target.Server,
		Guarantee: c.Guarantee, Client: b.spec.Client, Topic: b.spec.Topic,
	}
	if b.broker.instance == nil { // it runs in this process
		return l, nil
	}
	if files := b.broker.instance.TLSFiles(); files != nil {
		l.TLS, l.CA = true, files.CA
		if files.Mutual {
			l.Cert, l.Key = files.ClientCert, files.ClientKey
		}
	}
	return l.Carried() // parts run as users of their own, who may not read the broker's files
}

// Link describes the running broker that a spec attaches to, for other processes. It holds the text of certificates, not their
// files: another process may run as a user that can't read them. The topology is left to the caller. Errors are of type
// *driver.ErrSetting.
func Link(s study.Spec) (link.Broker, error) {
	c, err := readCredentials(s)
	if err != nil {
		return link.Broker{}, err
	}
	l := link.Broker{
		Broker: s.Broker, Addresses: s.Attach, Guarantee: guarantee(s), Client: s.Client, Topic: s.Topic,
		TLS: s.TLS != study.TLSOff, Login: driver.Login(s.Login), User: s.User, Password: c.password, OAuth: driver.OAuth(s.OAuth),
	}
	if c.ca != nil {
		l.CA = link.Text(c.ca)
	}
	if c.cert != nil {
		l.Cert, l.Key = link.Text(c.cert), link.Text(c.key)
	}
	return l, nil
}
