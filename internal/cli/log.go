package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/secret"
)

const maxLog = 16 << 20 // bytes, then the default log begins anew

// openLog opens the file for the client libraries' messages. name "" stands for the default file in dir.
func openLog(name, dir string) (io.WriteCloser, error) {
	most := int64(0)
	if name == "" {
		name, most = filepath.Join(dir, provision.LogFile), maxLog
	}
	if isSQLite(name) {
		return nil, aStore(name)
	}
	name, err := bounded.OwnPath(name)
	if err != nil {
		return nil, badInput("%s can't be written: %w", name, err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, hinted(badInput("log file: %w", err), "choose another with --log FILE")
	}
	return redacted{f, most}, nil
}

// redacted is a file without secrets: client libraries log their settings.
type redacted struct {
	file *os.File // not embedded: its other methods that write leave out nothing
	most int64    // bytes, then it begins anew; 0: it never does
}

func (r redacted) Close() error { return r.file.Close() }

func (r redacted) Write(text []byte) (int, error) {
	if info, err := r.file.Stat(); r.most > 0 && err == nil && info.Size() > r.most {
		_ = r.file.Truncate(0)
	}
	if _, err := r.file.WriteString(secret.Redact(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
