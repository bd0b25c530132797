package cli

import (
	"fmt"
	"strings"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/provision"
)

func (s *shell) cleanCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "clean",
		Short: "List installed brokers and leftovers, and remove them with --yes",
		Long: `Clean lists the brokers that were installed, the directories of runs and the log,
all below the work directory (BROKERMARK_HOME), and reports of crashes. With
--yes it removes them, unless a broker still runs. Stores of results and system
packages stay; it names the packages that were installed for brokers.`,
		Example: "  brokermark clean\n  brokermark broker down --all && brokermark clean --yes\n  brokermark clean --yes",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(*cobra.Command, []string) error { return s.clean(provision.DefaultDir(), yes) },
	}
	c.Flags().BoolVar(&yes, "yes", false, "remove everything listed")
	return c
}

func (s *shell) clean(dir string, yes bool) error {
	list, err := provision.Holdings(dir)
	if err != nil {
		return brokerFailed(err)
	}
	if len(list) == 0 {
		fmt.Fprintf(s.out, "nothing was installed or left below %s\n", dir)
		if yes {
			return provision.Clear(dir, nil)
		}
		return nil
	}
	for _, l := range provision.LeftBehind(dir) {
		fmt.Fprintf(s.out, "left on a broker that was not started here, to be removed there: %s\n", l.String())
	}
	var sum int64
	for _, h := range list {
		sum += h.Bytes
		remark := ""
		if h.InUse != "" {
			remark = "  (" + h.InUse + ")"
		}
		fmt.Fprintf(s.out, "%9s  %-14s  %s%s\n", units.BytesSize(float64(h.Bytes)), h.What, h.Path, remark)
	}
	if !yes {
		s.stay(provision.Packages(dir))
		fmt.Fprintf(s.out, "%9s  in all; brokermark clean --yes removes it\n", units.BytesSize(float64(sum)))
		return nil
	}
	packages := provision.Packages(dir) // whose list goes, too
	if err := provision.Clear(dir, list); err != nil {
		return hinted(fmt.Errorf("nothing was removed: %w", err), "brokermark broker down --all stops brokers that were started with broker up")
	}
	fmt.Fprintf(s.out, "%9s  were removed\n", units.BytesSize(float64(sum)))
	s.stay(packages)
	return nil
}

// stay says which packages clean leaves alone.
func (s *shell) stay(packages []string) {
	if len(packages) > 0 {
		fmt.Fprintf(s.out, "system packages that were installed for brokers stay: %s\n", strings.Join(packages, ", "))
	}
}
