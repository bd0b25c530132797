package lab

import (
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/study"
)

// Link is the running broker that the spec attaches to, as the parts of a pipeline need to know it. Its topology is left to
// the caller.
func Link(s study.Spec) (link.Broker, error) {
	secret, err := password(s)
	return link.Broker{
		Broker: s.Broker, Version: s.Version, Addresses: s.Attach, Guarantee: guarantee(s), Client: s.Client, Topic: s.Topic,
		TLS: s.TLS != study.TLSOff, CA: s.CAFile, Cert: s.CertFile, Key: s.KeyFile, User: s.User, Password: secret,
	}, err
}
