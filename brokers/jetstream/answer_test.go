package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/driver"
)

// A server whose max_file_store is full has no room later either.
func TestAFullStorageIsNoLostConnection(t *testing.T) {
	err := judge(&nats.Msg{Data: []byte(`{"error":{"code":503,"err_code":10023,"description":"insufficient resources"},"stream":"a","seq":0}`)})
	if err == nil || errors.Is(err, driver.ErrDisconnected) || !strings.Contains(err.Error(), "insufficient resources") {
		t.Error(err)
	}
}

// The short cut of judge must say what the answer says as JSON.
func FuzzAnAcknowledgementMeansWhatJSONSaysItDoes(f *testing.F) {
	for _, answer := range []string{
		`{"stream":"a","seq":1}`, `{"stream":"a","seq":1,"duplicate":true}`, `{"error":{"code":503,"description":"insufficient resources"},"stream":"","seq":0}`,
		`{"stream":"a","error":{"code":400,"err_code":10077,"description":"maximum messages exceeded"},"seq":0}`, ``, `{}`, `null`, `{"stream":`, `{"stream":"\"error\""}`, `[`,
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		err := judge(&nats.Msg{Data: answer})
		var said struct {
			Stream string
			Error  *struct{ Description string }
		}
		if json.Unmarshal(answer, &said) != nil {
			return // that it ends without a panic is all there is to say
		}
		if good := said.Error == nil && said.Stream != ""; good && err != nil {
			t.Errorf("%q: %v", answer, err)
		} else if said.Error != nil && err == nil && bytes.Contains(answer, ackError) { // no server writes it in another way
			t.Errorf("%q is taken for an acknowledgement", answer)
		}
		if said.Error != nil && strings.HasPrefix(said.Error.Description, "maximum ") && errors.Is(err, driver.ErrDisconnected) {
			t.Errorf("%q, a full stream, is taken for a lost connection", answer)
		}
	})
}
