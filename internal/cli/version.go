package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/notices"
)

// Version is set by the linker for releases.
var Version = ""

// toolVersion returns this program's version: a release, or the commit it was built from.
func toolVersion() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if commit == "" {
		return "devel"
	}
	return "devel-" + commit + dirty
}

// versionLine returns what version and --version print.
func versionLine() string {
	return fmt.Sprintf("brokermark %s %s %s/%s\n", toolVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (s *shell) versionCommand() *cobra.Command {
	var licences bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, or the licences of everything in this program",
		Example: "  brokermark version\n  brokermark version | cut -d' ' -f2\n  brokermark version --licenses",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			text := versionLine()
			if licences {
				text = notices.Text()
			}
			_, err := io.WriteString(s.out, text)
			return err
		},
	}
	c.Flags().BoolVar(&licences, "licenses", false, "print the licences of this program and of all software in it")
	return c
}
