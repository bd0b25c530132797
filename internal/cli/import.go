package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/bundle"
	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

func (s *shell) importCommand() *cobra.Command {
	var path, like, paper string
	c := &cobra.Command{
		Use:   "import FILE... | --study NAME",
		Short: "Store records of another store, results of the OpenMessaging Benchmark or of a paper",
		Long: "Import stores the records of another store (a file or URL), of export\n" +
			"--format jsonl, of a bundle, or left where a store was away, as they are, once\n" +
			"each. A bundle whose files differ from their sums is refused.\n" +
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
			spec, err := specOf(c.Context(), path, like)
			if err != nil {
				return err
			}
			own, results, err := openImports(c.Context(), args, spec)
			if err != nil {
				return err
			}
			if own != nil && like != "" {
				return badInput("--like is for results of other tools; %s holds whole records", own[0].path)
			}
			st, err := store.OpenContext(c.Context(), path)
			if err != nil {
				return err
			}
			defer st.Close()
			if err := s.importRecords(c.Context(), st, own); err != nil {
				return err
			}
			return s.importResults(c.Context(), st, results)
		},
	}
	c.Flags().StringVar(&path, "store", defaultStore, storeDoc)
	c.Flags().StringVar(&paper, "study", "", "`study` whose published tables are stored; a name or a folder")
	c.Flags().StringVar(&like, "like", "", "stored `point` (or the beginning of its ID) with the same workload")
	return c
}

// records are those of one file or store, read while they are imported.
type records struct {
	path string
	each iter.Seq2[store.Checked, error]
}

// foreign is a record made of another tool's file.
type foreign struct {
	path   string
	record store.Record
}

// openImports looks into all files before anything is stored: own hold whole records, and results was made of another tool's files.
func openImports(ctx context.Context, paths []string, like *study.Spec) (own []records, results []foreign, err error) {
	for _, path := range paths {
		each, err := openOwn(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		if each != nil {
			own = append(own, records{path, each})
			continue
		}
		r, err := readOMB(path, like)
		if err != nil {
			return nil, nil, err
		}
		results = append(results, foreign{path, r})
	}
	return own, results, nil
}

// maxImported bounds another tool's result file, in bytes.
const maxImported = 64 << 20

// readOMB makes a record of a result file of the OpenMessaging Benchmark. like is the spec of the same work, or nil.
func readOMB(path string, like *study.Spec) (store.Record, error) {
	data, err := bounded.File(path, maxImported)
	if err != nil {
		return store.Record{}, cannotRead(path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return store.Record{}, cannotRead(path, err)
	}
	r, err := exchange.FromOMB(path, bytes.TrimSpace(bounded.Unmarked(data)), info.ModTime().Truncate(time.Second), like)
	if err != nil {
		return store.Record{}, badInput("%w", err)
	}
	return r, nil
}

// cannotRead returns an error of reading a file as bad input.
func cannotRead(file string, err error) error {
	if inPath, ok := errors.AsType[*os.PathError](err); ok {
		err = inPath.Err
	}
	return badInput("%s can't be read: %w", file, err)
}

// specOf returns the spec of the stored point whose ID begins with id, or nil without an id.
func specOf(ctx context.Context, path, id string) (*study.Spec, error) {
	if id == "" {
		return nil, nil
	}
	records, err := readStore(ctx, path, "point="+id)
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

// importResults appends each record as the next repetition of its point, unless the store has the same file already.
func (s *shell) importResults(ctx context.Context, st *store.Store, files []foreign) error {
	for _, file := range files {
		r := file.record
		there, err := st.Records(ctx, store.Filter{PointIDs: []string{r.PointID}})
		if err != nil {
			return err
		}
		if slices.ContainsFunc(there, func(old store.Record) bool { return exchange.SameSource(old, r) }) {
			fmt.Fprintf(s.out, "%s is in the store already, as point %s\n", file.path, r.PointID)
			continue
		}
		r.Repetition = 1
		for _, old := range there {
			r.Repetition = max(r.Repetition, old.Repetition+1)
		}
		if _, err := st.Append(ctx, r); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s: %s, point %s, repetition %d\n", file.path, r.Spec.Broker, r.PointID, r.Repetition)
	}
	return nil
}

// otherFigures counts the published points of which the store holds another figure, or figures of another table.
func otherFigures(known map[string]store.Record, published []store.Record) int {
	count := 0
	for _, r := range published {
		old, there := known[r.PointID]
		differs := func(m results.Metric) bool { return !sameNumber(m.AsRecorded().Of(old), m.AsRecorded().Of(r)) }
		if there && (!exchange.SameSource(old, r) || slices.ContainsFunc(results.Metrics, differs)) {
			count++
		}
	}
	return count
}

// sameNumber reports whether two figures are equal, or both unknown.
func sameNumber(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// importStudy appends the published figures of a study; records already in the store stay unchanged.
func (s *shell) importStudy(c *cobra.Command, path, name string) error {
	paper, err := readPaper(name)
	if err != nil {
		return err
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
	if other := otherFigures(known, paper.Figures); other > 0 {
		return badInput("%s: the store has other figures of published points (%d), from an earlier version of the study's tables; "+
			"import into another store: figures are never replaced", paper.Study.Name, other)
	}
	stored := 0
	for _, r := range paper.Figures {
		if _, there := known[r.PointID]; there {
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

// The beginnings of files that are known by them.
var (
	sqliteHeader = []byte("SQLite format 3\x00")
	hlogHeader   = []byte("#[")
	hgrmHeader   = []byte("Value ")
)

// openOwn opens the records of another store, of export --format jsonl, of a bundle, or of the file for those that a store didn't take.
// It returns nil for the files of other tools.
func openOwn(ctx context.Context, path string) (iter.Seq2[store.Checked, error], error) {
	if store.IsURL(path) {
		return openOther(ctx, path)
	}
	head, err := headOf(path)
	switch {
	case err != nil:
		return nil, cannotRead(path, err)
	case len(head) == 0:
		return nil, badInput("%s is empty", path)
	case bytes.HasPrefix(head, sqliteHeader):
		return openOther(ctx, path)
	case bytes.HasPrefix(head, bundle.Header):
		if _, err := bundle.Check(path); err != nil {
			return nil, badInput("%w", err)
		}
		return refusing(bundle.Records(path), func(err error) error { return cannotRead(path, err) }), nil
	case bytes.HasPrefix(bytes.TrimSpace(head), hlogHeader), bytes.HasPrefix(bytes.TrimSpace(head), hgrmHeader):
		return nil, hinted(badInput("%s is a latency distribution of HdrHistogram: it doesn't say of which broker and load", path),
			"export --format jsonl writes whole records, which can be imported")
	}
	var first struct {
		PointID string          `json:"point_id"`
		Spec    json.RawMessage `json:"spec"`
	}
	err = json.Unmarshal(head, &first)
	switch {
	case (err != nil || first.PointID == "") && filepath.Ext(path) != ".jsonl":
		return nil, nil
	case first.PointID != "" && first.Spec == nil:
		return nil, hinted(badInput("%s holds figures only, no whole records", path), "export --format jsonl writes records that can be imported")
	}
	each := refusing(store.ReadRecords(path), func(err error) error { return cannotRead(path, err) })
	switch one, err := readable(each); {
	case err != nil:
		return nil, err
	case !one:
		return nil, badInput("%s holds no whole record: its only line lacks its end, as a crash leaves it", path)
	}
	return each, nil
}

// openOther opens the records of another store, which may come from elsewhere.
func openOther(ctx context.Context, path string) (iter.Seq2[store.Checked, error], error) {
	each := func(yield func(store.Checked, error) bool) {
		st, err := store.OpenReadOnlyContext(ctx, path)
		if err != nil {
			yield(store.Checked{}, err)
			return
		}
		defer st.Close()
		st.EachChecked(ctx)(yield)
	}
	checked := refusing(each, func(err error) error {
		if store.ProblemOf(err) != "" || ctx.Err() != nil {
			return err
		}
		return badInput("%w", err)
	})
	_, err := readable(checked)
	return checked, err
}

// refusing is each with other words for its errors.
func refusing(each iter.Seq2[store.Checked, error], say func(error) error) iter.Seq2[store.Checked, error] {
	return func(yield func(store.Checked, error) bool) {
		for r, err := range each {
			if err != nil {
				err = say(err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// readable reports whether there is a record to read, or why it can't be read.
func readable(each iter.Seq2[store.Checked, error]) (one bool, err error) {
	for _, err := range each {
		return err == nil, err
	}
	return false, nil
}

// mostHead bounds the first line of a file of records.
const mostHead = 64 << 20

// headOf reads the first line of an ordinary file.
func headOf(path string) ([]byte, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := bufio.NewReader(io.LimitReader(f, mostHead)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return bounded.Unmarked(head), err
}

// importRecords appends the records, as they are, that the store doesn't have yet. Those before one that can't be read are stored.
func (s *shell) importRecords(ctx context.Context, st *store.Store, list []records) error {
	for _, own := range list {
		stored, known, err := st.Import(ctx, own.each)
		if err == nil || stored+known > 0 {
			fmt.Fprintf(s.out, "%s: %s stored, %d there already\n", store.Printable(own.path), unit.Counted(stored, "record"), known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
