package rabbitmq

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// answers is a transport that answers every request with the same bytes.
type answers []byte

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: io.NopCloser(bytes.NewReader(a)), Request: r}, nil
}

func FuzzManagementAnswer(f *testing.F) {
	for _, text := range []string{
		`{"messages_unacknowledged":3,"message_stats":{"publish":5,"deliver_get":2}}`, `{}`, `null`, `[]`, `{"message_stats":[]}`, `{"messages_unacknowledged":1e99}`, `{"message_stats":null}`, "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := &rabbit{web: &http.Client{Transport: answers(text)}, cfg: driver.Config{Client: driver.Values{"vhost": "/"}}}
		first, err := d.managed(t.Context(), "http://h", "q")
		if second, again := d.managed(t.Context(), "http://h", "q"); err == nil && (again != nil || first != second) {
			t.Errorf("%+v, %v; then %+v, %v", first, err, second, again)
		}
	})
}
