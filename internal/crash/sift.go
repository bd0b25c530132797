package crash

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// maxDump bounds what is kept of a dump, in bytes: the panic and its goroutine come first.
const maxDump = 4 << 20

// begins is how a dump of Go's runtime begins.
var begins = regexp.MustCompile(`^(panic: |fatal error: |fatal: |runtime: |unexpected fault address|SIG[A-Z0-9]+: )`)

// sift passes on what is no dump as it comes, such as a library's own log lines, and returns the dump, which is the
// last that a process writes.
func sift(from io.Reader, to io.Writer) string {
	lines := bufio.NewReader(from)
	var dump strings.Builder
	for {
		line, err := lines.ReadSlice('\n') // long lines come in pieces
		switch room := maxDump - dump.Len(); {
		case dump.Len() == 0 && !begins.Match(line):
			_, _ = to.Write(line)
		case room > 0:
			dump.Write(line[:min(len(line), room)])
		}
		if err != nil && err != bufio.ErrBufferFull {
			if dump.Len() == maxDump {
				fmt.Fprintf(&dump, "\n… cut off after %d bytes\n", maxDump)
			}
			return dump.String()
		}
	}
}
