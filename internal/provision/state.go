package provision

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/brokermark/brokermark/internal/bounded"
)

// State is the description of an instance in its directory, for other runs of the tool.
type State struct {
	Form      int // of this description, see stateForm
	ID        string
	Broker    string
	Version   string
	Began     time.Time
	Addresses []string
	Detached  bool // outlives the tool that started it
	Keep      bool
	Running   int // nodes alive now; not stored

	Owner    identity // the tool that started it
	User     int      // of its processes; 0: the owner's
	Install  string
	Settings map[string]any    `json:",omitempty"` // of a broker; those of a part may hold the password of an attached broker
	Facts    map[string]string `json:",omitempty"`
	TLS      *TLSFiles         `json:",omitempty"`
	Login    *Login            `json:",omitempty"` // the file is its owner's to read only
	Nodes    []nodeState
}

type nodeState struct {
	Ports      map[string]int
	Supervisor identity
	Main       int
}

const stateFile = "state.json"

// stateForm is the version of a state's format. A state of another version is refused.
const stateForm = 2

// save writes the state by renaming a file, because another tool may be reading it.
func (in *Instance) save() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := in.cluster
	s := State{
		Form: stateForm,
		ID:   c.ID, Broker: c.Recipe.Broker, Version: c.Version, Began: in.began, Addresses: in.Addresses(),
		Detached: in.detached, Keep: c.keep, Owner: identify(os.Getpid()),
		User: c.user, Install: c.Install, Settings: c.Settings, Facts: c.Facts, TLS: c.TLS, Login: c.Login,
	}
	if c.Recipe.Part {
		s.Settings = nil
	}
	for _, m := range in.members {
		n := nodeState{Ports: m.node.Ports}
		if p := m.current(); p != nil {
			n.Supervisor, n.Main = p.Supervisor, p.Main
		}
		s.Nodes = append(s.Nodes, n)
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write the state of %s: %w", c.ID, err)
	}
	temp := filepath.Join(c.dir, "."+stateFile)
	if err := writeSynced(temp, b); err != nil {
		return fmt.Errorf("write the state of %s: %w", c.ID, err)
	}
	return os.Rename(temp, filepath.Join(c.dir, stateFile))
}

// writeSynced returns when the content is on the disk: a file that is renamed earlier may be empty after a power failure.
func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, privateFile)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

func readState(dir string) (State, error) {
	path := filepath.Join(dir, stateFile)
	b, err := bounded.File(path, 16<<20)
	if err != nil {
		return State{}, err
	}
	return decodeState(path, b)
}

func decodeState(path string, b []byte) (s State, err error) {
	if err := json.Unmarshal(b, &s); err != nil {
		return State{}, fmt.Errorf("%s: %w", path, err)
	}
	if s.Form != stateForm {
		return State{}, fmt.Errorf("%s was written by another version of brokermark", path)
	}
	s.Running = 0 // regardless of the file
	for _, n := range s.Nodes {
		if n.Supervisor.alive() {
			s.Running++
		}
	}
	return s, nil
}
