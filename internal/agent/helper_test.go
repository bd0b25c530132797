package agent

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

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
	in, err := host.Start(t.Context(), provision.Options{Broker: ConsumersPart, Keep: true, Server: settings.Settings()})
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
