package provision

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/bounded"
)

// leftDir holds notes, in the work directory, about what runs have created on brokers that were not started here.
const leftDir = "attached"

// Left is a note about objects that this tool has created on a broker that was not started here. A killed process leaves the note
// and the objects behind; the process that wrote the file locks it.
type Left struct {
	Broker    string    `json:"broker"`
	Addresses []string  `json:"addresses"`
	Topics    string    `json:"topics"`          // prefix of the names of topics, queues, streams or subscriptions
	Topic     string    `json:"topic,omitempty"` // an existing topic: the names are those of its subscriptions
	Since     time.Time `json:"since"`

	file *os.File // set if this process wrote the note
}

// String returns a line such as "jetstream at 10.0.0.7:4222: topics bm-1f…-*, of a run of 2026-11-29 12:00 that was killed
// or could not remove them".
func (l *Left) String() string {
	made := "topics " + l.Topics + "*"
	if l.Topic != "" {
		made = fmt.Sprintf("subscriptions %s* of topic %s", l.Topics, l.Topic)
	}
	return fmt.Sprintf("%s at %s: %s, of a run of %s that was killed or could not remove them", l.Broker, strings.Join(l.Addresses, ","), made, l.Since.Format("2006-01-02 15:04"))
}

// Note writes a note before the objects that it names are created.
func (h *Host) Note(l Left) (*Left, error) {
	dir := filepath.Join(h.Dir, leftDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l.Since = time.Now()
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, strings.ReplaceAll(l.Topics, "/", "-")+fmt.Sprint(l.Since.UnixNano()))
	if l.file, err = openLocked(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, exclusiveNow); err != nil {
		return nil, err
	}
	_, err = l.file.Write(text)
	return &l, err
}

// Gone removes the note once all its objects were removed.
func (l *Left) Gone() error { return errors.Join(os.Remove(l.file.Name()), l.file.Close()) }

// Stays keeps the note for other runs: some object could not be removed.
func (l *Left) Stays() error { return l.file.Close() }

// LeftBehind lists the notes below a work directory whose processes have ended.
func LeftBehind(dir string) (list []Left) {
	paths, _ := filepath.Glob(filepath.Join(dir, leftDir, "*"))
	for _, path := range paths {
		f, err := openLocked(path, os.O_RDONLY, exclusiveNow)
		if err != nil { // its process lives, or has taken it back
			continue
		}
		var l Left
		text, err := bounded.File(path, 1<<16)
		if err == nil && json.Unmarshal(text, &l) == nil {
			list = append(list, l)
		}
		f.Close()
	}
	return list
}
