package pulsar

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/oauth"
	"github.com/brokermark/brokermark/internal/driver"
)

// answering is a transport that answers every request with the same bytes.
type answering struct {
	status int
	text   []byte
}

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Body: io.NopCloser(bytes.NewReader(a.text)), Request: r}, nil
}

// Whatever an administration answers, each question to it ends with a figure or an error.
func FuzzAdministrationAnswer(f *testing.F) {
	for _, text := range []string{
		`["standalone"]`, `{"maxMessageSize":"5242880"}`, `{"bookies":[{"bookieId":"h:1"}]}`, `{"journalSyncData":"true"}`, `{"subscriptions":{"s":{"consumers":[{"consumerName":"c","availablePermits":7}]}}}`,
		`{"msgInCounter":5,"subscriptions":{"s":{"msgBacklog":1,"msgOutCounter":4,"unackedMessages":1}}}`, `{"reason":"no"}`, `null`, `[null]`, `{"subscriptions":{"s":null}}`, ``, `<html>`,
	} {
		f.Add(200, []byte(text))
		f.Add(500, []byte(text))
	}
	f.Fuzz(func(t *testing.T, status int, text []byte) {
		a := &admin{tokens: oauth.NewSource(driver.Target{}), urls: []string{"http://h"}, bookies: []string{"http://b"}, http: &http.Client{Transport: answering{status % 600, text}}}
		if n, err := a.maxMessageSize(t.Context()); err != nil && n != 0 {
			t.Errorf("both %d and %v", n, err)
		}
		if n, err := a.liveBookies(t.Context()); err == nil && n > len(text) {
			t.Errorf("%d bookies out of %d bytes", n, len(text))
		}
		if _, err := a.availablePermits(t.Context(), "t", "s", "c"); status%600 >= 400 && err == nil {
			t.Errorf("status %d is taken for an answer", status%600)
		}
		_, _ = a.traffic(t.Context(), "t", true)
		_ = a.syncsJournals(t.Context())
	})
}
