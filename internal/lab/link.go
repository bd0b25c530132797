package lab

import (
	"errors"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/study"
)

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
	if b.instance == nil { // it runs in this process
		return to, nil
	}
	if f := b.instance.TLSFiles(); f != nil {
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
