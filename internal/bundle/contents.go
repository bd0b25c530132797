package bundle

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Contents are the parts of a bundle.
type Contents struct {
	Study   *study.Study
	Grid    []study.Point  // of the study
	Folder  fs.FS          // of the study
	Records []store.Record // in the order of Sorted
	Authors []string       // of the measurements
	Tool    string         // version of brokermark
	Files   []File         // records, table, pages and figures
}

// Write writes the bundle.
func (c Contents) Write(w io.Writer) error {
	files := slices.Clone(c.Files)
	names, err := c.studyFiles()
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := bounded.FileIn(c.Folder, name, maxFile)
		if err != nil {
			return fmt.Errorf("%s of the study: %w", name, err)
		}
		files = append(files, text(path.Join(StudyFolder(c.Study.Name), name), data))
	}
	manifest, err := json.MarshalIndent(c.manifest(), "", "  ")
	if err != nil {
		return err
	}
	citation, err := c.citation()
	if err != nil {
		return err
	}
	return pack(w, append(files, text(manifestFile, append(manifest, '\n')), text("CITATION.cff", citation),
		text("README.md", c.readme()), text("read.py", pythonScript), text("read.R", rScript)))
}

// StudyFolder returns the folder of the study's files. A study without a name of its own has that of its folder.
func StudyFolder(study string) string { return "study/" + unsafeInName.ReplaceAllString(study, "-") }

// unsafeInName is a character that not every file system takes.
var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// studyFiles lists the files of the study's folder: its document, claims and description, and the tables and payloads that the document
// names. Whatever else lies there is not published.
func (c Contents) studyFiles() ([]string, error) {
	named := map[string]bool{"study.yaml": true, "claims.yaml": true, "README.md": true}
	for _, table := range c.Study.Published {
		named[table.File] = true
	}
	for _, p := range c.Grid {
		named[p.Spec.PayloadFile] = true
	}
	var files []string
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !fs.ValidPath(name) { // a payload from elsewhere
			continue
		}
		err := fs.WalkDir(c.Folder, name, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files = append(files, file)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(files))), nil
}

// format is the version of a bundle's form.
const format = 1

// Manifest describes a bundle.
type Manifest struct {
	Format   int                  `json:"format"`
	Study    string               `json:"study"`
	Question string               `json:"question,omitempty"`
	Source   string               `json:"source,omitempty"`
	MadeBy   string               `json:"made_by"`
	Began    string               `json:"began,omitempty"` // the first repetition
	Ended    string               `json:"ended,omitempty"` // the last one
	Scales   []string             `json:"scales,omitempty"`
	Points   int                  `json:"points"`
	Records  int                  `json:"records"`
	Statuses map[store.Status]int `json:"statuses"` // how many records have each
	Versions []versions           `json:"versions"`
	Machines []store.Host         `json:"machines"`
}

// versions are those with which a broker was measured.
type versions struct {
	Broker string `json:"broker"`
	store.Versions
}

func (c Contents) manifest() Manifest {
	m := Manifest{
		Format: format, Study: c.Study.Name, Question: c.Study.Question, Source: c.Study.Source, MadeBy: "brokermark " + c.Tool,
		Records: len(c.Records), Statuses: map[store.Status]int{}, Versions: []versions{}, Machines: []store.Host{},
	}
	points, scales := map[string]bool{}, map[string]bool{}
	var began, ended time.Time
	for _, r := range c.Records {
		points[r.PointID] = true
		m.Statuses[r.Status]++
		if r.Status == store.Published {
			continue
		}
		if r.Scale != "" {
			scales[r.Scale] = true
		}
		if !r.Began.IsZero() && (began.IsZero() || r.Began.Before(began)) {
			began = r.Began
		}
		if r.Ended.After(ended) {
			ended = r.Ended
		}
		m.Versions = lists.AddNew(m.Versions, versions{r.Spec.Broker, r.Versions})
		m.Machines = lists.AddNew(m.Machines, r.Host)
	}
	m.Points, m.Scales = len(points), slices.Sorted(maps.Keys(scales))
	m.Began, m.Ended = day(began), day(ended)
	return m
}

// day returns t's date, or "" for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// citation returns the bundle's CITATION.cff, of the Citation File Format 1.2.0.
func (c Contents) citation() ([]byte, error) {
	type person struct {
		Name string `yaml:"name"`
	}
	file := struct {
		Version  string   `yaml:"cff-version"`
		Message  string   `yaml:"message"`
		Type     string   `yaml:"type"`
		Title    string   `yaml:"title"`
		Authors  []person `yaml:"authors"`
		Released string   `yaml:"date-released,omitempty"`
		Abstract string   `yaml:"abstract,omitempty"`
		Keywords []string `yaml:"keywords"`
	}{
		Version: "1.2.0", Message: "If you use these measurements, cite them and the publication that they repeat.",
		Type: "dataset", Title: "Measurements of the study " + c.Study.Name + ", made with Brokermark",
		Abstract: c.about(), Keywords: []string{"message broker", "benchmark"}, Released: c.manifest().Ended,
		Authors: lists.Map(c.Authors, func(name string) person { return person{name} }),
	}
	if file.Authors == nil { // the format demands one
		file.Authors = []person{{"anonymous"}}
	}
	return yaml.Marshal(file)
}

func (c Contents) about() string { return strings.TrimSpace(c.Study.Question + " " + c.Study.Source) }

var (
	//go:embed read.py
	pythonScript []byte
	//go:embed read.R
	rScript []byte
)

// readme returns a page that explains each file.
func (c Contents) readme() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n\n%s\n\n", c.Study.Name, c.about())
	out.WriteString(`| file | what it is |
|---|---|
| records.jsonl | every repetition, a JSON object a line |
| data.csv, columns.csv | the figures of each, and what the columns mean |
| read.py, read.R | read both, with types |
| pages, figures | the study's report |
| study | what was to be measured, claims and published tables |
| manifest.json | versions and machines |
| CITATION.cff | how to cite this |

` + "`sha256sum -c SHA256SUMS` checks the files, and `brokermark import FILE.zip` stores the records of the zip in a store.\n")
	return out.Bytes()
}
