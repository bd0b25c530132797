package provision

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
)

// What walks a data directory has the only thread that a producer may run on.
func TestAWalkOfManyFilesGivesWayToOthers(t *testing.T) {
	const files = 3000
	dir := t.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var turns atomic.Int64
	var over atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !over.Load() {
			turns.Add(1)
			runtime.Gosched()
		}
	}()
	runtime.Gosched()
	before := turns.Load()
	if taken(dir) == 0 {
		t.Error("the files take nothing")
	}
	got := turns.Load() - before
	over.Store(true)
	<-ended
	if least := int64(files / turnEvery / 2); got < least {
		t.Errorf("others had %d turns while %d files were looked at, want at least %d", got, files, least)
	}
}
