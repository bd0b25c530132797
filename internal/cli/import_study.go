package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
)

// importStudy appends the published figures of a study; what is in the store already stays as it is.
func (s *shell) importStudy(c *cobra.Command, path, name string) error {
	paper, err := reports.ReadPaper(name)
	if err != nil {
		return badInput("%w", err)
	}
	if len(paper.Figures) == 0 {
		return badInput("%s publishes no table", name)
	}
	st, err := store.OpenContext(c.Context(), path)
	if err != nil {
		return err
	}
	defer st.Close()
	known := map[string]store.Record{}
	for r, err := range st.Each(c.Context(), store.Filter{Study: paper.Study.Name, Statuses: []store.Status{store.Published}}) {
		if err != nil {
			return err
		}
		known[r.PointID] = r
	}
	stored := 0
	for _, r := range paper.Figures {
		if old, there := known[r.PointID]; there && exchange.SameSource(old, r) {
			continue
		}
		if _, err := st.Append(c.Context(), r); err != nil {
			return err
		}
		stored++
	}
	fmt.Fprintf(s.out, "%s: published figures of %d points stored, those of %d were there already\n", paper.Study.Name, stored, len(paper.Figures)-stored)
	return nil
}
