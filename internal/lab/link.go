package lab

import (
	"errors"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/study"
)

// Link is the running broker that the spec attaches to, as another process needs to know it: with the Text of its
// certificates, since that process may run as a user, and in a directory, in which their files can't be read. Its topology
// is left to the caller.
func Link(s study.Spec) (link.Broker, error) {
	to := link.Broker{
		Broker: s.Broker, Version: s.Version, Addresses: s.Attach, Guarantee: guarantee(s), Client: s.Client, Topic: s.Topic,
		TLS: s.TLS != study.TLSOff, User: s.User,
	}
	var errPassword, errCA, errCert, errKey error
	to.Password, errPassword = password(s)
	if to.TLS {
		to.CA, errCA = textOf("caFile", s.CAFile)
	}
	if s.TLS == study.TLSMutual {
		to.Cert, errCert = textOf("certFile", s.CertFile)
		to.Key, errKey = textOf("keyFile", s.KeyFile)
	}
	return to, errors.Join(errPassword, errCA, errCert, errKey)
}

// textOf reads a file that a spec names; none is no text.
func textOf(path, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := bounded.File(file, maxSecret)
	if err != nil {
		return "", unusable(path, "%s %s can't be read: %w", path, file, cause(err))
	}
	return link.Text(text), nil
}
