package provision

import (
	"encoding/json"
	"os"
	"testing"
)

// FuzzState gives what may be left of a state file: nothing is told to run because the file says so.
func FuzzState(f *testing.F) {
	own, err := json.Marshal(State{ID: "nats-1", Form: stateForm, Nodes: []nodeState{{Supervisor: identify(os.Getpid())}}})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{string(own), string(own[:len(own)/2]), `{}`, `null`, `{"form":99}`, `{"running":5}`, `{"Running":5,"nodes":[{}]}`, `{"nodes":[{"supervisor":{"pid":-1}}]}`, `{"nodes":[{"supervisor":{"pid":1}}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := decodeState("f", text)
		if s.Running > len(s.Nodes) || err != nil && s.Running > 0 {
			t.Errorf("%d of %d nodes run, %v", s.Running, len(s.Nodes), err)
		}
	})
}
