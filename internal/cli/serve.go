package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/browse"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/watch"
)

func (s *shell) serveCommand() *cobra.Command {
	var path, address string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show the store as a web site on this machine",
		Long: `Serve shows what the store holds in a browser: the runs, the report of any
selection, two sides compared, and where a run that is under way can be watched.
It measures nothing, changes nothing and answers to this machine only. Each page
shows the store as it is when the page is loaded. Ctrl-C ends it.`,
		Example: "  brokermark serve\n  brokermark serve --listen 9000 --store monday.db\n  brokermark serve --store postgres://user@host/database",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return s.serve(c.Context(), path, address) },
	}
	c.Flags().StringVar(&path, "store", defaultStore, storeDoc)
	c.Flags().StringVar(&address, "listen", "8088", "`address` of the site on this machine; 0 for any free port")
	return c
}

func (s *shell) serve(ctx context.Context, path, address string) error {
	complete, err := watch.Address(address)
	if err != nil {
		return badInput("--listen: %w", err)
	}
	st, err := store.OpenReadOnlyContext(ctx, path) // what can't be shown is said now, not by the first page
	if err != nil {
		return err
	}
	if err := st.Close(); err != nil {
		return err
	}
	server, err := watch.Serve(complete, "", browse.Handler(shelf(path)))
	switch {
	case errors.Is(err, watch.ErrOpen):
		return hinted(badInput("--listen %s: the store is shown to this machine only; allowed: 127.0.0.1, ::1 and localhost", address),
			"for another machine: ssh -L 8088:127.0.0.1:8088 HOST, or a report as a file (report -o report.html)")
	case err != nil:
		return hinted(badInput("--listen: %w", err), "another port, or 0 for any free one")
	}
	fmt.Fprintf(s.out, "%s is shown at %s/ until Ctrl-C\n", store.Printable(path), server.URL)
	<-ctx.Done()
	return server.Close()
}

// shelf opens the store anew for each page: it may have been moved, or be away for a while.
func shelf(path string) browse.Source {
	return browse.Source{
		Name: store.Printable(path),
		Host: hostName(),
		Read: func(ctx context.Context, where string) ([]store.Record, error) { return readStore(ctx, path, where) },
		Running: func(ctx context.Context) (store.Running, error) {
			return inStore(ctx, path, func(st *store.Store) (store.Running, error) { return st.Running(ctx) })
		},
		Page: func(set *results.Set, where string, args ...string) page.Source {
			return source(set, path, where, output{}, args...)
		},
	}
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "an unnamed machine"
	}
	return name
}
