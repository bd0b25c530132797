//go:build !linux || portable

package provision

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Another user may have made the folder's name a link to one of root's, which is not to be opened to everybody.
func TestNoPortIsReservedThroughALink(t *testing.T) {
	precious := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	ok(t, errors.Join(os.Chmod(precious, 0o700), os.Symlink(precious, filepath.Join(os.TempDir(), "brokermark-ports"))))
	if f := takePort(lowestPort); f != nil {
		t.Errorf("reserved by %s", f.Name())
	}
	if info, err := os.Stat(precious); err != nil || info.Mode().Perm() != 0o700 || !isEmpty(t, precious) {
		t.Errorf("the folder has become %v, %v", info.Mode(), err)
	}
}
