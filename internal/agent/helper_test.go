package agent

import (
	"bytes"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main() // this binary is also the helper
	os.Exit(m.Run())
}

// What is on the disk while the helper runs is also what a kill leaves there.
func TestThePasswordOfAnAttachedBrokerIsInNoFile(t *testing.T) {
	dir, err := os.MkdirTemp("", "agent-test-") // which the user that helpers run as can enter, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	host, err := provision.NewHost(dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	const password, key, secret = "s3cret-password", "s3cret-key", "s3cret-login"
	settings := Consumers{Broker: link.Broker{Broker: "sim", User: "eve", Password: password, Key: link.Text([]byte(key))}, Secret: secret}
	in, err := host.Start(t.Context(), provision.Options{Broker: ConsumersPart, Keep: true, Server: provision.PartSettings(settings)})
	if err != nil {
		t.Fatal(err)
	}
	look := func(when string) {
		t.Helper()
		files := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			for _, word := range []string{password, link.Text([]byte(key)), secret} {
				if bytes.Contains(text, []byte(word)) {
					t.Errorf("%s: %s holds %s", when, path, word)
				}
			}
			return err
		})
		if err != nil || files == 0 {
			t.Errorf("%s: %d files: %v", when, files, err)
		}
	}
	look("while it runs")
	if err := in.Restart(t.Context(), 1); err != nil {
		t.Errorf("with what it was started with: %v", err)
	}
	if err := in.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	look("kept")
}

// Any user of this machine can connect, and say nothing.
func TestStrangersDoNotKeepTheClientWaiting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := Consumers{Name: "consumers-test", Listen: l.Addr().String(), Secret: "of the client"}
	l.Close()
	accepted := make(chan error, 1)
	go func() {
		conn, err := c.acceptClient(t.Context())
		if err == nil {
			conn.Close()
		}
		accepted <- err
	}()
	for range 5 {
		conn, _, err := dial(t.Context(), c.Listen)
		for err != nil { // it does not listen yet
			conn, _, err = dial(t.Context(), c.Listen)
		}
		defer conn.Close()
	}
	began := time.Now()
	conn, err := ConsumerHost{Address: c.Listen, Secret: c.Secret}.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := <-accepted; err != nil || time.Since(began) > greetingTime/2 {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}
