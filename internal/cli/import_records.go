package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/store"
)

// importRecords appends records of other stores, and those that a store didn't take when they were measured. One that is
// there already stays alone.
func (s *shell) importRecords(c *cobra.Command, path string, files []string) error {
	var list [][]store.Record
	for _, file := range files { // all are read before the first is stored
		records, err := store.ReadRecords(file)
		if err != nil {
			return cannotRead(file, err)
		}
		list = append(list, records)
	}
	st, err := store.OpenContext(c.Context(), path)
	if err != nil {
		return err
	}
	defer st.Close()
	for i, records := range list {
		known := 0
		for _, r := range records {
			there, err := st.AppendOnce(c.Context(), r)
			if err != nil {
				return err
			}
			if there {
				known++
			}
		}
		fmt.Fprintf(s.out, "%s: %d records stored, %d were there already\n", files[i], len(records)-known, known)
	}
	return nil
}
