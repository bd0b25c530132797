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

// begins is how a dump of Go's runtime begins. It may have lines before, as libraries write them, too.
var (
	begins = regexp.MustCompile(`^(panic: |fatal error: |unexpected fault address|SIG[A-Z0-9]+: )`)
	before = regexp.MustCompile(`^(fatal: |runtime: )`)
)

// sift passes on what is no dump as it comes, such as a library's own log lines, and returns the dump, which is the
// last that a process writes. Lines that may come before a dump are kept until the next one tells.
func sift(from io.Reader, to io.Writer) string {
	lines := bufio.NewReader(from)
	var dump strings.Builder
	for begun := false; ; {
		line, err := lines.ReadSlice('\n') // long lines come in pieces
		begun = begun || begins.Match(line)
		switch room := maxDump - dump.Len(); {
		case !begun && !before.Match(line) && len(line) > 0:
			_, _ = io.WriteString(to, dump.String())
			dump.Reset()
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
