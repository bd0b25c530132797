package cli_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/reports"
)

// repeatedStore is a store in which a publication's own figures were measured, then and now, twice each.
func repeatedStore(t *testing.T, study string) string {
	t.Helper()
	paper, err := reports.ReadPaper(study)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "repeated.db")
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	n := 0
	for _, f := range paper.Figures[:min(len(paper.Figures), 40)] { // claims take a while
		for _, when := range []string{"then", "now"} {
			for repetition := range 2 {
				r := f
				r.Axes, r.Status, r.Reason, r.Source, r.PointID, r.Repetition = maps.Clone(f.Axes), store.OK, "", "", when+f.PointID, repetition+1
				r.Axes["when"] = when
				r.Result = &store.Result{Given: maps.Clone(f.Result.Given)}
				for key := range r.Result.Given {
					r.Result.Given[key] *= 1 + 0.1*float64(n%5)
				}
				r.Began = storetest.Began.Add(time.Duration(n) * time.Minute)
				r.Ended = r.Began.Add(30 * time.Second)
				r.Versions, r.Host = store.Versions{Broker: "1." + when, Client: "client@v1", Tool: "1.0"}, store.Host{Name: "bench-1", CPU: "a CPU", Cores: 2}
				if _, err := st.Append(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				n++
			}
		}
	}
	return path
}

// unpacked are the files of a zip.
func unpacked(t *testing.T, path string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// A folder may be a stranger's, and a bundle is published.
func TestABundleHasNoFileFromOutsideOfTheStudysFolder(t *testing.T) {
	folder, key := paperFolder(t), filepath.Join(t.TempDir(), "key")
	st, out := filepath.Join(t.TempDir(), "s.db"), filepath.Join(t.TempDir(), "a.zip")
	write(t, key, "a secret")
	if err := os.Symlink(key, filepath.Join(folder, "README.md")); err != nil {
		t.Fatal(err)
	}
	brokermark(t, "import", "--study", folder, "--store", st).want(t, 0)
	if r := brokermark(t, "bundle", folder, "--store", st, "-o", out); r.code == 0 || !strings.Contains(r.err, "path escapes") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

func TestABundleComesBackAsItWas(t *testing.T) {
	folder := paperFolder(t)
	own := filepath.Join(t.TempDir(), "own.db")
	brokermark(t, "run", folder, "--store", own).want(t, 0)
	brokermark(t, "import", "--study", folder, "--store", own).want(t, 0)
	for _, c := range []struct {
		study, db string
		has       []string
		report    []string
	}{
		{"head-to-head", demoStore(t), []string{"study/head-to-head/study.yaml", "figures/sustainable.svg"}, []string{"summary"}},
		{"dyjach-2024", repeatedStore(t, "dyjach-2024"), []string{"study/dyjach-2024/claims.yaml", "study/dyjach-2024/published/backlog.csv", "study/dyjach-2024/README.md", "figures/exhibit-01.svg"}, []string{"study"}},
		{folder, own, []string{"study/paper/table.csv", "study/paper/claims.yaml", "figures/exhibit-01.svg"}, []string{"study", "--study", folder}},
	} {
		t.Run(filepath.Base(c.study), func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			brokermark(t, "bundle", c.study, "--store", c.db, "-o", in("a.zip")).want(t, 0)
			brokermark(t, "bundle", c.study, "--store", c.db, "-o", in("again.zip")).want(t, 0)
			said := brokermark(t, "import", in("a.zip"), "--store", in("b.db")).want(t, 0).out
			brokermark(t, "bundle", c.study, "--store", in("b.db"), "-o", in("b.zip")).want(t, 0)
			first, err := os.ReadFile(in("a.zip"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"again.zip", "b.zip"} {
				if other, err := os.ReadFile(in(name)); err != nil || !bytes.Equal(other, first) {
					files := unpacked(t, in(name))
					for file, content := range unpacked(t, in("a.zip")) {
						if !bytes.Equal(files[file], content) {
							t.Errorf("%s of %s differs", file, name)
						}
					}
					t.Errorf("%s differs, %v", name, err)
				}
			}
			files := unpacked(t, in("a.zip"))
			if n := bytes.Count(files["records.jsonl"], []byte("\n")); said != fmt.Sprintf("%s: %d records stored, 0 there already\n", in("a.zip"), n) {
				t.Errorf("%d records, and it said %s", n, said)
			}
			for _, name := range append(c.has, "pages/"+c.report[0]+".html", "pages/"+c.report[0]+".xlsx", "CITATION.cff", "manifest.json", "README.md") {
				if len(files[name]) == 0 {
					t.Errorf("there is no %s", name)
				}
			}
			for format, page := range map[string]string{"markdown": "pages/" + c.report[0] + ".md", "latex": "pages/" + c.report[0] + ".tex"} {
				for _, db := range []string{c.db, in("b.db")} {
					args := append([]string{"report", "--store", db, "--format", format}, c.report...)
					if out := brokermark(t, args...).want(t, 0).out; out != string(files[page]) {
						t.Errorf("%s differs from the report of %s:\n%.2000s", page, db, out)
					}
				}
			}
			for name, content := range files {
				if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(content), name); name != "SHA256SUMS" && !strings.Contains(string(files["SHA256SUMS"]), line) {
					t.Errorf("SHA256SUMS lacks %s", line)
				}
				if bytes.Contains(content, []byte(dir)) {
					t.Errorf("%s names a folder of this machine", name)
				}
			}
		})
	}
}

func TestAnExhibitIsDrawnOverWhatWasPublished(t *testing.T) {
	db, folder := repeatedStore(t, "dyjach-2024"), paperFolder(t)
	path := filepath.Join(t.TempDir(), "a.svg")
	for name, words := range map[string][]string{
		"dyjach-2024/1": {"published", "then", "now", "kafka", "pulsar", "rabbitmq"}, folder + "/1": {"published", "Table 1"},
	} {
		for _, linear := range [][]string{nil, {"--linear", "--title", "Table 1"}} {
			brokermark(t, append([]string{"figure", name, "--store", db, "-o", path}, linear...)...).want(t, 0)
			svg, err := os.ReadFile(path)
			for _, w := range words {
				if err != nil || !strings.Contains(string(svg), ">"+w+"</text>") {
					t.Errorf("%s lacks %q, %v", name, w, err)
				}
			}
		}
	}
	out := brokermark(t, "report", "study", "--store", db, "--format", "html").want(t, 0).out
	if n := strings.Count(out, `src="data:image/svg+xml;base64,`); n < 10 || strings.Contains(out, "Drawn by:") {
		t.Errorf("%d figures in the page", n)
	}
	if out := brokermark(t, "report", "study", "--store", db).want(t, 0).out; !strings.Contains(out, "brokermark figure dyjach-2024/15 -o FILE.svg") {
		t.Error("the terminal doesn't say how the last exhibit is drawn")
	}
}

// A record in a bundle is held against the same rules as one in a file.
func TestARecordOfABundleThatNobodyCanHaveMeasuredIsNotImported(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(filepath.Join(dir, "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	r := storetest.Demo()[0]
	result := *r.Result
	result.PublishRate = -1
	r.Result = &result
	if _, err := st.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.zip")
	brokermark(t, "bundle", "head-to-head", "--store", filepath.Join(dir, "a.db"), "-o", path).want(t, 0)
	said := brokermark(t, "import", path, "--store", filepath.Join(dir, "b.db")).want(t, 2).err
	if !strings.Contains(said, path+":records.jsonl:1: not a record: its publish_rate is -1; allowed: 0 or more") {
		t.Error(said)
	}
}

// table is the flat table of a store as the scripts of a bundle read it.
func tableOf(t *testing.T, path string) (rows []map[string]any) {
	t.Helper()
	st, err := store.OpenReadOnlyContext(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	records, err := st.Records(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	columns := results.FlatColumns(records)
	_, values := results.FlatTable(records)
	for row := range values {
		read := map[string]any{}
		for i, v := range row {
			switch v := v.(type) {
			case int64:
				read[columns[i].Name] = float64(v) // as JSON has it
			case string:
				v = render.Inert(v)
				switch {
				case v == "":
					read[columns[i].Name] = nil
				case columns[i].Type == "array":
					var list []any
					for _, text := range strings.Split(v, " | ") {
						list = append(list, text)
					}
					read[columns[i].Name] = list
				default:
					read[columns[i].Name] = v
				}
			default:
				read[columns[i].Name] = v
			}
		}
		rows = append(rows, read)
	}
	return rows
}

func TestTheTableOfABundleIsReadWithItsTypes(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3, which is not on this machine")
	}
	dir, db := t.TempDir(), demoStore(t)
	brokermark(t, "bundle", "head-to-head", "--store", db, "-o", filepath.Join(dir, "a.zip")).want(t, 0)
	files := unpacked(t, filepath.Join(dir, "a.zip"))
	for _, name := range []string{"data.csv", "columns.csv", "read.py", "read.R"} {
		write(t, filepath.Join(dir, name), string(files[name]))
	}
	columns, err := csv.NewReader(bytes.NewReader(files["columns.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(string(files["data.csv"]), "\n")
	var names []string
	for _, c := range columns[1:] {
		names = append(names, c[0])
		if c[3] == "" || !slices.Contains([]string{"string", "boolean", "integer", "number", "array"}, c[1]) {
			t.Errorf("the column %q isn't explained", c)
		}
	}
	if strings.Join(names, ",") != header || len(names) < 80 {
		t.Errorf("columns.csv has\n%q, data.csv\n%s", names, header)
	}
	for name, unit := range map[string]string{"e2e_p99_ns": "ns", "publish_rate": "1/s", "broker_rss_bytes": "B", "sustainable_held_s": "s", "broker_cpu_user_pct": "%", "message_size": "B", "topics": ""} {
		if c := columns[slices.Index(names, name)+1]; c[2] != unit {
			t.Errorf("%s is in %q, want %q", name, c[2], unit)
		}
	}
	c := exec.Command(python, "-c", "import json, read; print(json.dumps(read.data))")
	c.Dir = dir
	c.Stderr = os.Stderr
	out, err := c.Output()
	var got []map[string]any
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := tableOf(t, db)
	if len(got) != len(want) || len(got) < 60 {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for name, v := range want[i] {
			if !reflect.DeepEqual(got[i][name], v) {
				t.Errorf("row %d: %s is %v, want %v", i+1, name, got[i][name], v)
			}
		}
	}
	said := fmt.Sprintf("%d rows of %d columns\n", len(want), len(names))
	for script, program := range map[string]string{"read.py": python, "read.R": "Rscript"} {
		if program, err = exec.LookPath(program); err != nil {
			continue // Rscript is on few machines
		}
		c := exec.Command(program, script)
		c.Dir, c.Stderr = dir, os.Stderr
		if out, err := c.Output(); err != nil || string(out) != said {
			t.Errorf("%s: %q, %v, want %q", script, out, err, said)
		}
	}
}
