package watch

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// asked is the status of a request with these headers.
func asked(t *testing.T, base, path string, headers ...string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func served(t *testing.T, address, token string) *Server {
	t.Helper()
	f := &Follower{}
	s, err := Serve(address, token, site(f, NewMetrics(f)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestOnlyThisMachinesOwnPagesReadARun(t *testing.T) {
	s := served(t, "127.0.0.1:0", "")
	own := strings.TrimPrefix(s.URL, "http://")
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"as it is typed":               {nil, 200},
		"as localhost":                 {[]string{"Host", "localhost:8080"}, 200},
		"without a port":               {[]string{"Host", "[::1]"}, 200},
		"a name that was pointed here": {[]string{"Host", "evil.example:80"}, 403},
		"a page of another site":       {[]string{"Origin", "http://evil.example"}, 403},
		"another site's image":         {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image"}, 403},
		"another site's frame":         {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "iframe"}, 403},
		"another site's link":          {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "document"}, 200},
		"a page without a site":        {[]string{"Origin", "null"}, 403},
		"the page itself":              {[]string{"Origin", s.URL}, 200},
		"another port's page":          {[]string{"Host", own, "Origin", "http://127.0.0.1:1"}, 403},
	} {
		for _, path := range []string{"/", "/metrics"} {
			if got := asked(t, s.URL, path, c.headers...); got != c.want {
				t.Errorf("%s, %s: %d, want %d", name, path, got, c.want)
			}
		}
	}
}

func TestOtherMachinesNeedTheToken(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"} {
		if s, err := Serve(address, "", http.NotFoundHandler()); !errors.Is(err, ErrOpen) {
			t.Errorf("%s without a token: %v", address, err)
			if err == nil {
				s.Close()
			}
		}
	}
	s := served(t, "0.0.0.0:0", "s3 cr&t")
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	base := "http://127.0.0.1:" + port
	cookie := entered(t, base, "s3 cr&t")
	if strings.Contains(cookie, "s3") || cookie == entered(t, served(t, "127.0.0.1:0", "s3 cr&t").URL, "s3 cr&t") {
		t.Errorf("the cookie %q opens more than this server", cookie)
	}
	for name, c := range map[string]struct {
		path    string
		headers []string
		want    int
	}{
		"nothing":          {"/", nil, 401},
		"a wrong one":      {"/", []string{"Authorization", "Bearer s3"}, 401},
		"Prometheus":       {"/metrics", []string{"Authorization", "Bearer s3 cr&t"}, 200},
		"a wrong address":  {"/?token=x", nil, 401},
		"the address":      {"/?token=s3+cr%26t", nil, 303},
		"the page's own":   {"/", []string{"Cookie", cookie}, 200},
		"a wrong cookie":   {"/events", []string{"Cookie", sessionCookie + "=x"}, 401},
		"an empty cookie":  {"/events", []string{"Cookie", sessionCookie + "="}, 401},
		"another site's":   {"/", []string{"Cookie", cookie, "Origin", "http://evil.example"}, 403},
		"metrics without":  {"/metrics", nil, 401},
		"any name with it": {"/", []string{"Host", "bench.example", "Cookie", cookie}, 200},
	} {
		if got := asked(t, base, c.path, c.headers...); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// entered is the cookie that a reader gets who shows the token.
func entered(t *testing.T, base, token string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(base + "/?token=" + url.QueryEscape(token))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if len(answer.Cookies()) != 1 {
		t.Fatalf("%d cookies", len(answer.Cookies()))
	}
	return answer.Cookies()[0].Name + "=" + answer.Cookies()[0].Value
}

func TestConnectionsAreBounded(t *testing.T) {
	s := served(t, "127.0.0.1:0", "")
	address := strings.TrimPrefix(s.URL, "http://")
	var idle []net.Conn
	defer func() {
		for _, c := range idle {
			c.Close()
		}
	}()
	answers := func() bool {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
		_ = c.SetDeadline(time.Now().Add(300 * time.Millisecond))
		_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_, err = c.Read(make([]byte, 1))
		return err == nil
	}
	for n := range maxConnections {
		if !answers() {
			t.Fatalf("connection %d isn't answered", n+1)
		}
	}
	if answers() {
		t.Error("one more than allowed is answered")
	}
	idle[0].Close()
	idle[maxConnections].Close()
	if idle = idle[1:]; !answers() {
		t.Error("nobody is let in after somebody left")
	}
}

func TestTheTokenInAnAddressLeadsToThisSiteOnly(t *testing.T) {
	for path, want := range map[string]string{"/": "/", "/events": "/events", "//evil.example": "/evil.example", "/%5cevil.example": "/evil.example"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://bench.example"+path+"?token=secret", nil)
		withAccessControl("secret", http.NotFoundHandler()).ServeHTTP(w, r)
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
}
