package agent

import (
	"crypto/tls"
	"sync/atomic"
)

// TLS keeps what the latest TLS handshake with the broker negotiated. It may be used by several goroutines.
type TLS struct{ negotiated atomic.Pointer[string] }

// Watch notes the result of every handshake under c from now on; c may be nil.
func (t *TLS) Watch(c *tls.Config) {
	if c == nil {
		return
	}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		t.Note(tls.VersionName(s.Version) + ", " + tls.CipherSuiteName(s.CipherSuite))
		return nil
	}
}

// Note sets what another process negotiated; "" changes nothing.
func (t *TLS) Note(negotiated string) {
	if negotiated != "" {
		t.negotiated.Store(&negotiated)
	}
}

// String returns version and cipher suite, such as "TLS 1.3, TLS_AES_128_GCM_SHA256"; "" if there was no handshake.
func (t *TLS) String() string {
	if text := t.negotiated.Load(); text != nil {
		return *text
	}
	return ""
}
