package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func (s *shell) importCommand() *cobra.Command {
	var path, like, paper string
	c := &cobra.Command{
		Use:   "import FILE... | --study NAME",
		Short: "Store records of another store, results of the OpenMessaging Benchmark or of a paper",
		Long: "Import stores the records of another store (a file or URL), of export\n" +
			"--format jsonl, or left where a store was away, as they are, once each.\n" +
			"Result files of the OpenMessaging Benchmark become records of brokers called\n" +
			"omb:NAME, with the doubts that such numbers deserve. What such a file doesn't\n" +
			"say is unknown, unless --like names a stored point that was given the same work.\n" +
			"With --study it stores the tables of a published study: reports and compare\n" +
			"set them beside what was measured and conclude nothing from them.",
		Example: "  brokermark import result.json\n" +
			"  brokermark import result.json --store omb.db\n" +
			"  brokermark report --where broker=omb:kafka",
		Args: func(c *cobra.Command, args []string) error {
			if paper != "" {
				return nil
			}
			return arguments(cobra.MinimumNArgs(1))(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case paper != "" && (len(args) > 0 || like != ""):
				return badInput("--study takes the tables of a study's folder; allowed beside it: --store")
			case paper != "":
				return s.importStudy(c, path, paper)
			}
			spec, err := s.specOf(c, path, like)
			if err != nil {
				return err
			}
			own, list, err := readImports(c.Context(), args, spec)
			if err != nil {
				return err
			}
			if own != nil && like != "" {
				return badInput("--like is for results of other tools; %s holds whole records", own[0].path)
			}
			if err := s.importRecords(c.Context(), path, own); err != nil {
				return err
			}
			return s.keep(c, path, list)
		},
	}
	c.Flags().StringVar(&path, "store", defaultStore, storeDoc)
	c.Flags().StringVar(&paper, "study", "", "`study` whose published tables are stored; a name or a folder")
	c.Flags().StringVar(&like, "like", "", "stored `point` (or the beginning of its ID) that was given the same work")
	return c
}

// readImports reads all files before the first is stored.
func readImports(ctx context.Context, paths []string, like *study.Spec) (own []ownRecords, others []read, err error) {
	for _, path := range paths {
		records, err := readOwn(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		if records != nil {
			own = append(own, ownRecords{path, records})
			continue
		}
		r, err := readOMB(path, like)
		if err != nil {
			return nil, nil, err
		}
		others = append(others, r)
	}
	return own, others, nil
}

// read is a file that was read: its name, and the record made of it.
type read struct {
	path   string
	record store.Record
}

// maxImported bounds another tool's result file, in bytes.
const maxImported = 256 << 20

func readOMB(path string, like *study.Spec) (read, error) {
	data, err := bounded.File(path, maxImported)
	if err != nil {
		return read{}, cannotRead(path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return read{}, cannotRead(path, err)
	}
	r, err := exchange.FromOMB(path, bytes.TrimSpace(data), info.ModTime().Truncate(time.Second), like)
	if err != nil {
		return read{}, badInput("%w", err)
	}
	return read{path, r}, nil
}

func cannotRead(path string, err error) error {
	var inPath *os.PathError
	if errors.As(err, &inPath) {
		return badInput("%s can't be read: %w", path, inPath.Err)
	}
	return badInput("%s can't be read: %w", path, err)
}

// specOf finds the spec of the point that id begins; nil without an id.
func (s *shell) specOf(c *cobra.Command, path, id string) (*study.Spec, error) {
	if id == "" {
		return nil, nil
	}
	records, err := readStore(c.Context(), path, "point="+id)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.PointID != records[0].PointID {
			return nil, badInput("--like %s: several points begin so: %s and %s", id, records[0].PointID, r.PointID)
		}
	}
	return &records[0].Spec, nil
}

// keep appends what isn't in the store yet; a file that is counts as kept.
func (s *shell) keep(c *cobra.Command, path string, list []read) error {
	st, err := store.Open(path)
	if err != nil {
		return err
	}
	defer st.Close()
	for _, r := range list {
		there, err := st.Records(c.Context(), store.Filter{PointIDs: []string{r.record.PointID}})
		if err != nil {
			return err
		}
		r.record.Repetition = 1
		kept := false
		for _, old := range there {
			r.record.Repetition = max(r.record.Repetition, old.Repetition+1)
			kept = kept || exchange.SameSource(old, r.record)
		}
		if kept {
			fmt.Fprintf(s.out, "%s is in the store already, as point %s\n", r.path, r.record.PointID)
			continue
		}
		if _, err := st.Append(c.Context(), r.record); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s: %s, point %s, repetition %d\n", r.path, r.record.Spec.Broker, r.record.PointID, r.record.Repetition)
	}
	return nil
}
