package agent

import (
	"crypto/tls"
	"sync/atomic"
)

// TLS is what was negotiated by the last handshake of the connections it watches.
type TLS struct{ negotiated atomic.Pointer[string] }

// Watch has every handshake under c tell what was negotiated; c may be nil.
func (t *TLS) Watch(c *tls.Config) {
	if c == nil {
		return
	}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		t.Note(tls.VersionName(s.Version) + ", " + tls.CipherSuiteName(s.CipherSuite))
		return nil
	}
}

// Note takes over what another process negotiated; "" is nothing.
func (t *TLS) Note(negotiated string) {
	if negotiated != "" {
		t.negotiated.Store(&negotiated)
	}
}

// String is the version and the cipher suite; "" while there was no handshake.
func (t *TLS) String() string {
	if text := t.negotiated.Load(); text != nil {
		return *text
	}
	return ""
}
