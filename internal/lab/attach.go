package lab

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// Attached is the running broker that the spec names, with what lets the clients in: the password and the certificates
// are read now. Nothing of them gets into a record.
func Attached(s study.Spec) (driver.Target, error) {
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
			return t, unusable("certFile", "certFile %s with keyFile %s can't be used: %w", s.CertFile, s.KeyFile, cause(err))
		}
		t.TLS.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// attached notes what can be known of a broker that somebody else started: what it says of itself, and which processes of
// this machine it is. It fails where nobody answers.
func (b *bench) attached(ctx context.Context, c driver.Config, recipe *provision.Recipe) error {
	said, unsaid, err := b.described(ctx, c)
	if err != nil {
		return err
	}
	b.record.Versions.Broker = cmp.Or(said.Version, b.spec.Version)
	b.record.Versions.Product = said.Product
	b.record.Settings.Server = said.Settings
	if version, err := recipe.Version(said.Version); err == nil && said.Version != "" && version.Doubt != "" {
		b.doubt("old-version", "%s %s: %s", b.spec.Broker, version.Name, version.Doubt)
	}
	cost := b.find(ctx)
	b.doubt("attached", "the broker was not started here%s: %s; what else it does is not known%s", calling(said), cost, unsaid)
	return nil
}

// described is what the broker says of itself, and a clause on what it doesn't say.
func (b *bench) described(ctx context.Context, c driver.Config) (said driver.Description, unsaid string, err error) {
	kind, err := driver.Lookup(b.spec.Broker)
	if err != nil {
		return said, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	d, err := kind.Open(ctx, c)
	if err != nil {
		if errors.As(err, new(*driver.ErrConnect)) {
			return said, "", errStart{err}
		}
		return said, "", nil // the run's own clients will say what is wrong
	}
	defer func() { _ = d.Close() }() // what it said stands, and the run has clients of its own
	asked, ok := d.(driver.Describer)
	if !ok {
		return said, ", nor are its settings", nil
	}
	said, err = asked.Describe(ctx)
	switch {
	case err != nil:
		unsaid = fmt.Sprintf(", nor are all of its settings (%v)", err)
	case said.Settings == nil:
		unsaid = ", nor are its settings"
	}
	return said, unsaid, nil
}

// calling is what a broker calls itself, as a clause; "" when it doesn't.
func calling(d driver.Description) string {
	if name := strings.TrimSpace(d.Product + " " + d.Version); name != "" {
		return ", it calls itself " + name
	}
	return ""
}

// describeTime bounds connecting to an attached broker and its answers on itself.
const describeTime = 15 * time.Second

// findTime bounds asking for the addresses behind a name.
const findTime = 5 * time.Second

// find looks for who meters the attached broker's processes, agents on its hosts or else this process those of this machine, and says
// as a clause what its cost is.
func (b *bench) find(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	found, missing := provision.Find(ctx, b.metersFor(ctx))
	var of []string
	if found != nil {
		b.meter = found
		of = append(of, fmt.Sprintf("that listen here (%s)", found))
	}
	if len(b.away) > 0 {
		of = append(of, fmt.Sprintf("that agents meter (%s)", b.away))
	}
	b.meterCoversBroker = len(of) > 0 && len(missing) == 0
	if b.meterCoversBroker {
		return "its cost is that of the processes " + strings.Join(of, " and of those ")
	}
	for _, m := range missing {
		if m.Here {
			b.brokerHidden = true
			return fmt.Sprintf("its cost is not known, since who serves %s can't be told (%s), so what other processes use may be the broker's", m.Address, m.Why)
		}
	}
	if len(of) > 0 {
		return fmt.Sprintf("its cost is not known, since nobody meters %s (%s)", missing[0].Address, missing[0].Why)
	}
	return "its cost is not known"
}

// maxSecret bounds files with a password or certificates, in bytes.
const maxSecret = 1 << 20

func password(s study.Spec) (string, error) {
	switch {
	case s.PasswordEnv != "":
		p, ok := os.LookupEnv(s.PasswordEnv)
		if !ok {
			return "", unusable("passwordEnv", "passwordEnv: there is no environment variable %s", s.PasswordEnv)
		}
		return p, nil
	case s.PasswordFile != "":
		text, err := bounded.File(s.PasswordFile, maxSecret)
		if err != nil {
			return "", unusable("passwordFile", "passwordFile %s can't be read: %w", s.PasswordFile, cause(err))
		}
		line, _, _ := bytes.Cut(text, []byte("\n"))
		return strings.TrimSuffix(string(line), "\r"), nil
	}
	return "", nil
}

func authorities(file string) (*x509.CertPool, error) {
	text, err := bounded.File(file, maxSecret)
	if err != nil {
		return nil, unusable("caFile", "caFile %s can't be read: %w", file, cause(err))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, unusable("caFile", "caFile %s holds no certificate in PEM form", file)
	}
	return pool, nil
}

// unusable says that the setting at path can't be used as it is.
func unusable(path, format string, args ...any) error {
	return &driver.ErrSetting{Path: path, Err: fmt.Errorf(format, args...)}
}

// cause is err without the path that the sentence around it names already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Encryptable refuses TLS that the recipe can't switch on; nil is a broker in this process.
func Encryptable(s study.Spec, r *provision.Recipe) error {
	switch {
	case s.TLS == study.TLSOff:
		return nil
	case r == nil:
		return driver.Unsupported("tls: "+s.TLS, "%s runs in this process, without a network", s.Broker)
	case !r.TLS:
		return driver.Unsupported("tls: "+s.TLS, "%s can't be started here with TLS", s.Broker)
	case s.TLS == study.TLSMutual && !r.Mutual:
		return driver.Unsupported("tls: mutual", "%s can't be started here so that it demands client certificates", s.Broker)
	}
	return nil
}
