package lab

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
)

func TestEveryProcessLogsInAlike(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("first\nsecond\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	blank := filepath.Join(filepath.Dir(file), "blank")
	if err := os.WriteFile(blank, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("A_SECRET", "in one line")
	for login, want := range map[string]string{
		"": "first", study.LoginToken: "first", study.LoginNkey: "first", study.LoginOAuth: "first",
		study.LoginCredentials: "first\nsecond\n", study.LoginAWS: "first\nsecond\n",
	} {
		s := study.Spec{
			Broker: "kafka", Attach: []string{"127.0.0.1:1"}, TLS: study.TLSOff, Login: login, User: "u", PasswordFile: file,
			OAuth: study.OAuth{URL: "https://idp/token", Scope: "produce", Audience: "kafka"},
		}
		here, err := attachedTarget(s)
		if err != nil {
			t.Fatal(err)
		}
		wanted := driver.Target{
			Addresses: s.Attach, Login: driver.Login(login), User: "u", Password: want,
			OAuth: driver.OAuth{URL: "https://idp/token", Scope: "produce", Audience: "kafka"},
		}
		if !reflect.DeepEqual(here, wanted) {
			t.Errorf("%q: %+v, want %+v", login, here, wanted)
		}
		l, err := Link(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, c, err := l.Config(io.Discard); err != nil || !reflect.DeepEqual(c.Target, here) {
			t.Errorf("%q in another process: %+v, %v; want %+v", login, c.Target, err, here)
		}
		s.PasswordFile = blank
		if _, err := attachedTarget(s); err == nil || !strings.Contains(err.Error(), "empty") {
			t.Errorf("%q with an empty file: %v", login, err)
		}
		s.PasswordEnv, s.PasswordFile = "A_SECRET", ""
		if there, err := attachedTarget(s); err != nil || there.Password != "in one line" {
			t.Errorf("%q from the environment: %q, %v", login, there.Password, err)
		}
	}
}
