// Package link connects a process, such as a part of the pipeline or the process of a point's consumers, to a broker that
// another process has prepared. It holds what the process has to know as plain data. It knows nothing of rides and HTTP.
package link

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Broker describes a broker for another process: where it is, and the guarantee and settings asked of it.
type Broker struct {
	Broker    string
	Version   string            `json:",omitempty"`
	Addresses []string          // host:port of each node
	Endpoints map[string]string `json:",omitempty"`
	Server    map[string]any    // of its start; nil: another program started it
	Guarantee driver.Guarantee
	Client    map[string]any `json:",omitempty"`
	Topic     map[string]any `json:",omitempty"`
	Topology  driver.Topology
	// TLS in PEM, files or their Text; CA alone encrypts, Cert and Key are for brokers that ask for them.
	TLS           bool         `json:",omitempty"`
	CA, Cert, Key string       `json:",omitempty"`
	Login         driver.Login `json:",omitempty"`
	User          string       `json:",omitempty"`
	Password      string       `json:",omitempty"`
	OAuth         driver.OAuth `json:",omitzero"`
}

// Subscription is the consumer's subscription.
const Subscription = "rides"

// Topology returns what a pipeline needs of a broker: one topic, one subscription.
func Topology(topic string, partitions int) driver.Topology {
	return driver.Topology{
		Topics:        []driver.Topic{{Name: topic, Partitions: max(1, partitions)}},
		Subscriptions: []string{Subscription},
	}
}

// Config returns b in the form that a driver takes. It refuses a setting that the driver doesn't know, by name.
func (b Broker) Config(log io.Writer) (driver.Kind, driver.Config, error) {
	kind, err := driver.Lookup(b.Broker)
	if err != nil {
		return kind, driver.Config{}, err
	}
	c := driver.Config{Guarantee: b.Guarantee, Log: log, Target: driver.Target{
		Addresses: b.Addresses, Version: b.Version, Endpoints: b.Endpoints, Server: b.Server,
		Login: b.Login, User: b.User, Password: b.Password, OAuth: b.OAuth,
	}}
	if c.Client, err = driver.Decode(kind.Settings, driver.ClientScope, b.Client); err != nil {
		return kind, c, err
	}
	if c.Topic, err = driver.Decode(kind.Settings, driver.TopicScope, b.Topic); err != nil {
		return kind, c, err
	}
	if b.TLS {
		c.Target.TLS, err = b.tls()
	}
	return kind, c, err
}

func (b Broker) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if b.CA != "" {
		text, err := pem(b.CA)
		if err != nil {
			return nil, fmt.Errorf("the broker's authorities: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			file := b.CA
			if strings.HasPrefix(file, inText) {
				file = "what was given" // its text is kept out of errors
			}
			return nil, fmt.Errorf("the broker's authorities: %s holds no certificate", file)
		}
	}
	if b.Cert != "" {
		cert, errCert := pem(b.Cert)
		key, errKey := pem(b.Key)
		pair, err := tls.X509KeyPair(cert, key)
		if err = cmp.Or(errors.Join(errCert, errKey), err); err != nil {
			return nil, fmt.Errorf("the certificate to show the broker: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// inText marks a value that holds a file's text, in one line, instead of its name.
const inText = "data:application/x-pem-file;base64,"

// Text returns a value that stands for a PEM file which another process may not be able to read.
func Text(pem []byte) string { return inText + base64.StdEncoding.EncodeToString(pem) }

// pem returns the content of a file, or the text that stands for it.
func pem(file string) ([]byte, error) {
	if text, ok := strings.CutPrefix(file, inText); ok {
		return base64.StdEncoding.DecodeString(text)
	}
	return os.ReadFile(file)
}

// Carried returns b with the text of its files, for a process on another machine.
func (b Broker) Carried() (Broker, error) {
	for what, file := range map[string]*string{"authorities": &b.CA, "certificate to show": &b.Cert, "key of the certificate": &b.Key} {
		if *file == "" || strings.HasPrefix(*file, inText) {
			continue
		}
		text, err := os.ReadFile(*file)
		if err != nil {
			return b, fmt.Errorf("the broker's %s: %w", what, err)
		}
		*file = Text(text)
	}
	return b, nil
}

// NamesFiles reports whether b names files that a process has to read, unlike Carried.
func (b Broker) NamesFiles() bool {
	return slices.ContainsFunc([]string{b.CA, b.Cert, b.Key}, func(file string) bool { return file != "" && !strings.HasPrefix(file, inText) })
}

// setupTime bounds the setup of a topology.
const setupTime = time.Minute

// Open connects, and makes the topology's topic or, where that Exists, gets ready to use it. The caller closes the driver.
func (b Broker) Open(ctx context.Context, log io.Writer) (driver.Driver, error) {
	kind, c, err := b.Config(log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	d, err := kind.Open(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", b.Broker, err)
	}
	if err := d.Setup(ctx, b.Topology); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("set up %s: %w", b.Topology.Topics[0].Name, err)
	}
	return d, nil
}
