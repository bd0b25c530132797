package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

// The work directory may be read by all, and a broker may be measured for days.
func TestTheLogIsItsUsersAloneAndBeginsAnewWhenItIsLong(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, provision.LogFile)
	log, err := openLog("", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := os.Truncate(path, maxLog+1); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"one\n", "at postgres://h/db?user=u&password=s3cret\n"} {
		if _, err := io.WriteString(log, line); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "one\nat postgres://h/db?user=u&password=") || strings.Contains(string(text), "s3cret") {
		t.Errorf("%.20q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	named := filepath.Join(dir, "named")
	if err := os.WriteFile(named, make([]byte, maxLog+1), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := openLog(named, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := io.WriteString(other, "one\n"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(named); err != nil || info.Size() < maxLog {
		t.Errorf("a log of the user's own was cut: %v, %v", info.Size(), err)
	}
}
