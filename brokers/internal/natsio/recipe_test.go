package natsio

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// FuzzMonitoringPage gives what may answer on a port that a server has left: pages are read or refused.
func FuzzMonitoringPage(f *testing.F) {
	for _, page := range []string{`{"server_name":"a"}`, `{"routes":[{"remote_id":"x"},{"remote_id":"x"},null]}`, `{"routes":null}`, `null`, `[]`, `<html>`, ``, `{"routes":[{"remote_id":5}]}`} {
		f.Add([]byte(page))
	}
	var page []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }))
	defer s.Close()
	f.Fuzz(func(t *testing.T, text []byte) {
		page = text
		var v server.Varz
		_ = Read(t.Context(), s.URL, &v)
		var z server.Routez
		if err := Read(t.Context(), s.URL, &z); err == nil && peers(z) > len(z.Routes) {
			t.Errorf("%d peers of %d routes", peers(z), len(z.Routes))
		}
	})
}
