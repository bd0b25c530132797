package link

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileIsNamedOrGivenAsItsText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := Text([]byte("a\nb\n"))
	if strings.ContainsAny(text, "\n\r") {
		t.Errorf("%q is more than one line", text)
	}
	for _, from := range []string{file, text} {
		if got, err := pem(from); err != nil || string(got) != "a\nb\n" {
			t.Errorf("%s holds %q, %v", from, got, err)
		}
	}
	for from, want := range map[string]string{
		file:         "the broker's authorities: " + file + " holds no certificate",
		text:         "the broker's authorities: what was given holds no certificate",
		inText + "?": "the broker's authorities: illegal base64 data at input byte 0",
	} {
		if _, err := (Broker{TLS: true, CA: from}).tls(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := (Broker{TLS: true, Cert: text, Key: file + "?"}).tls(); err == nil || !strings.Contains(err.Error(), "the certificate to show the broker: ") {
		t.Errorf("a key that isn't there: %v", err)
	}
}
