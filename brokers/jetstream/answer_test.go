package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/internal/driver"
)

// A server whose max_file_store is full has no room later either. The leader of a cluster steps down, and the next one may have some.
func TestAFullStorageIsFinalUnlessAnotherServerMayHaveRoom(t *testing.T) {
	full := &jetstream.APIError{Code: 503, ErrorCode: noResources, Description: "insufficient resources"}
	start := time.Now()
	for copies, passes := range map[int]bool{1: false, 3: true} {
		a := &answers{copies: copies}
		for after, passes := range []bool{passes, passes, false} { // every six seconds
			err := a.refused(full, start.Add(time.Duration(after)*6*time.Second))
			if errors.Is(err, driver.ErrDisconnected) != passes || !strings.Contains(err.Error(), full.Description) {
				t.Errorf("%d copies, the %d. time: %v", copies, after+1, err)
			}
		}
		if err := a.refused(full, start.Add(time.Minute)); errors.Is(err, driver.ErrDisconnected) != passes {
			t.Errorf("%d copies, later on: %v", copies, err)
		}
		s := &session{config: driver.Config{Guarantee: driver.Guarantee{Replicas: copies}}}
		if s.passing(full) != passes {
			t.Errorf("%d copies: setting up again is %v", copies, !passes)
		}
	}
}

// The short cut of parse must say what the answer says as JSON.
func FuzzAnAcknowledgementMeansWhatJSONSaysItDoes(f *testing.F) {
	for _, answer := range []string{
		`{"stream":"a","seq":1}`, `{"stream":"a","seq":1,"duplicate":true}`, `{"error":{"code":503,"description":"insufficient resources"},"stream":"","seq":0}`,
		`{"stream":"a","error":{"code":400,"err_code":10077,"description":"maximum messages exceeded"},"seq":0}`, ``, `{}`, `null`, `{"stream":`, `{"stream":"\"error\""}`, `[`,
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		err := (&answers{}).parse(&nats.Msg{Data: answer})
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
