package provision

// TLSFiles are the PEM files of one cluster: its own certificate authority, one server certificate valid for
// localhost and 127.0.0.1, and one client certificate. Readable by the user the brokers run as.
type TLSFiles struct {
	CA                    string // ca.pem
	Cert, Key             string // server.pem, server.key (PKCS#8)
	Keystore              string // key + certificate + CA in one PEM file, as Kafka wants it
	ClientCert, ClientKey string
}
