package store

import (
	"path/filepath"
	"sync"
	"testing"
)

// A reader that comes while another process makes the store fails, and takes none of its files away.
func TestAReaderThatComesTooEarlyTakesNothingFromTheWriter(t *testing.T) {
	for range 40 {
		path := filepath.Join(t.TempDir(), "s.db")
		made := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					if s, err := OpenReadOnly(path); err == nil {
						_ = s.Close()
					}
					select {
					case <-made:
						return
					default:
					}
				}
			})
		}
		s, err := Open(path)
		if err == nil {
			_, err = s.Append(t.Context(), Record{PointID: "a", Repetition: 1, Status: OK})
		}
		close(made)
		readers.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
