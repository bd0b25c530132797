package pulsar

import (
	"reflect"
	"sync/atomic"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/crypto"

	"github.com/brokermark/brokermark/internal/driver"
)

// mark writes into the metadata of every batch which transaction it belongs to. The client (0.19.0, its issue 1498) tells only the
// broker's connection, so that the broker, which reads the metadata, delivers what was aborted. What a batch passes through last before it
// is serialized, with its metadata, is its encryption; mark encrypts nothing. All messages of a transaction are answered before the
// next one begins, so one transaction holds for all that passes.
type mark struct{ of atomic.Pointer[client.TxnID] }

func (k *mark) marks(o *client.ProducerOptions) {
	o.Encryption = &client.ProducerEncryptionInfo{KeyReader: crypto.NewFileKeyReader("", ""), MessageCrypto: k}
}

func (k *mark) begin(txn client.Transaction) {
	id := txn.GetTxnID()
	k.of.Store(&id)
}

// metadata is where the client keeps what it serializes; nil where it has changed that.
func metadata(m crypto.MessageMetadataSupplier) *reflect.Value {
	held := reflect.Indirect(reflect.ValueOf(m)).FieldByName("messageMetadata")
	if !held.IsValid() || held.Kind() != reflect.Pointer || held.IsNil() {
		return nil
	}
	all := reflect.NewAt(held.Type().Elem(), held.UnsafePointer()).Elem()
	return &all
}

// Encrypt implements crypto.MessageCrypto.
func (k *mark) Encrypt(_ []string, _ crypto.KeyReader, m crypto.MessageMetadataSupplier, payload []byte) ([]byte, error) {
	id, all := k.of.Load(), metadata(m)
	if id == nil || all == nil {
		return nil, driver.Unsupported("client.transactions: true", "this version of pulsar-client-go keeps the metadata of messages elsewhere")
	}
	all.FieldByName("TxnidMostBits").Set(reflect.ValueOf(&id.MostSigBits))
	all.FieldByName("TxnidLeastBits").Set(reflect.ValueOf(&id.LeastSigBits))
	return payload, nil
}

// AddPublicKeyCipher implements crypto.MessageCrypto.
func (k *mark) AddPublicKeyCipher([]string, crypto.KeyReader) error { return nil }

// RemoveKeyCipher implements crypto.MessageCrypto.
func (k *mark) RemoveKeyCipher(string) bool { return false }

// Decrypt implements crypto.MessageCrypto.
func (k *mark) Decrypt(_ crypto.MessageMetadataSupplier, payload []byte, _ crypto.KeyReader) ([]byte, error) {
	return payload, nil
}
