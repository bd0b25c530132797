//go:build !portable

package provision

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestALogThatGrowsForEverIsKeptToItsLastPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node-1.log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, privateFile)
	ok(t, err)
	defer log.Close()
	line := strings.Repeat("x", 1023) + "\n"
	taken := func() int64 {
		var s syscall.Stat_t
		ok(t, syscall.Stat(path, &s))
		return s.Blocks * 512
	}
	for range 40 {
		for range 128 {
			_, err := log.WriteString(line)
			ok(t, err)
		}
		trim(log, 1<<20, 256<<10)
		if taken() > 1<<20+256<<10 {
			t.Fatalf("the log takes %d bytes", taken())
		}
	}
	_, err = log.WriteString("the last words\n")
	ok(t, err)
	if last := tailOf(path, 2); len(last) != 2 || last[1] != "the last words" || last[0] != strings.TrimSpace(line) {
		t.Errorf("the log ends with %.40q", last)
	}
	if info, err := os.Stat(path); err != nil || info.Size() < 5<<20 && taken() > 1<<20 {
		t.Errorf("%v, %v", info, err)
	}
}
