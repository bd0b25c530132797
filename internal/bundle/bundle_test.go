package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

// contents are those of a small study with these records.
func contents(t *testing.T, records []store.Record) Contents {
	t.Helper()
	s, err := study.Parse("waiting/study.yaml", []byte("name: waiting\nquestion: Does it pay to wait?\nbase: {broker: sim, measure: peak}\n"))
	if err != nil {
		t.Fatal(err)
	}
	records = Sorted(records)
	return Contents{
		Study: s, Records: records, Tool: "1.0",
		Folder: fstest.MapFS{"study.yaml": {Data: []byte("name: waiting\n")}, "diary.txt": {Data: []byte("mine")}},
		Files: []File{{RecordsFile, func(w io.Writer) error {
			for _, r := range records {
				if err := json.NewEncoder(w).Encode(r); err != nil {
					return err
				}
			}
			return nil
		}}},
	}
}

func written(t *testing.T, c Contents) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func saved(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.zip")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestABundleIsTheSameInWhateverOrderAStoreHasItsRecords(t *testing.T) {
	records := storetest.Demo()
	data := written(t, contents(t, records))
	other := append(storetest.Demo(), records[3])
	slices.Reverse(other)
	if !bytes.Equal(written(t, contents(t, other)), data) {
		t.Error("the same records make two bundles")
	}
	path := saved(t, data)
	m, err := Check(path)
	if err != nil || m.Study != "waiting" || m.Records != len(records) || m.Statuses[store.OK] == 0 || len(m.Versions) != len(storetest.Products) || len(m.Machines) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	for range 2 { // it can be read again
		back, err := store.Collect(Records(path))
		if err != nil || len(back) != len(records) || back[5].PointID != records[5].PointID {
			t.Errorf("%d records, %v", len(back), err)
		}
	}
}

// Other files in a folder beside a study may be private.
func TestABundleHasTheStudysFilesAndNoTimes(t *testing.T) {
	c := contents(t, storetest.Demo()[:2])
	c.Authors = []string{"Ada: Lovelace"}
	folder := c.Folder.(fstest.MapFS)
	folder["published/a.csv"], folder["published/b.csv"] = &fstest.MapFile{}, &fstest.MapFile{}
	folder["rides/a.json"] = &fstest.MapFile{}
	c.Study.Published = []study.Published{{File: "published/a.csv"}}
	c.Grid = []study.Point{{Spec: study.Spec{PayloadFile: "rides"}}, {Spec: study.Spec{PayloadFile: "/etc/passwd"}}, {}}
	z, err := zip.NewReader(bytes.NewReader(written(t, c)), int64(len(written(t, c))))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		if !f.Modified.Equal(earliest) {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
	}
	if want := "CITATION.cff README.md manifest.json read.R read.py records.jsonl study/waiting/published/a.csv study/waiting/rides/a.json study/waiting/study.yaml SHA256SUMS"; strings.Join(names, " ") != want {
		t.Errorf("%q, want %s", names, want)
	}
	var cited struct {
		Title    string
		Authors  []struct{ Name string }
		Released string `yaml:"date-released"`
	}
	text, err := c.citation()
	if err == nil {
		err = yaml.Unmarshal(text, &cited)
	}
	if err != nil || cited.Released != "2026-03-01" || len(cited.Authors) != 1 || cited.Authors[0].Name != "Ada: Lovelace" || !strings.Contains(cited.Title, "waiting") {
		t.Errorf("%+v, %v", cited, err)
	}
}

// changed is the zip data with what change makes of each file's header and content, and then more.
func changed(t *testing.T, data []byte, change func(h *zip.FileHeader, content []byte) []byte, more func(*zip.Writer) error) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		content, err := content(f)
		if err != nil {
			t.Fatal(err)
		}
		h := f.FileHeader
		if content = change(&h, content); content == nil {
			continue
		}
		dst, err := w.CreateHeader(&zip.FileHeader{Name: h.Name, Method: h.Method, ExternalAttrs: h.ExternalAttrs, CreatorVersion: h.CreatorVersion})
		if err == nil {
			_, err = dst.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if more != nil {
		err = more(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAZipThatIsNoBundleIsRefusedBeforeARecordIsRead(t *testing.T) {
	data := written(t, contents(t, storetest.Demo()[:2]))
	same := func(_ *zip.FileHeader, content []byte) []byte { return content }
	with := func(name string, to func([]byte) []byte) func(h *zip.FileHeader, content []byte) []byte {
		return func(h *zip.FileHeader, content []byte) []byte {
			if h.Name == name {
				return to(content)
			}
			return content
		}
	}
	gone := func([]byte) []byte { return nil }
	raw := func(name string, size uint64) func(*zip.Writer) error {
		return func(w *zip.Writer) error {
			_, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, UncompressedSize64: size})
			return err
		}
	}
	named := func(name string) func(*zip.Writer) error {
		return func(w *zip.Writer) error {
			_, err := w.Create(name)
			return err
		}
	}
	for name, c := range map[string]struct {
		change func(h *zip.FileHeader, content []byte) []byte
		more   func(*zip.Writer) error
		want   string
	}{
		"as it was":           {same, nil, ""},
		"a folder":            {same, named("pages/"), ""},
		"without manifest":    {with(manifestFile, gone), nil, "it is no bundle of a study: it has no manifest.json"},
		"without sums":        {with(sumsFile, gone), nil, "it has no SHA256SUMS"},
		"without records":     {with(RecordsFile, gone), nil, "it has no records.jsonl"},
		"another form":        {with(manifestFile, func(b []byte) []byte { return bytes.Replace(b, []byte(`"format": 1`), []byte(`"format": 2`), 1) }), nil, "another version of brokermark (form 2, this one reads 1)"},
		"a changed record":    {with(RecordsFile, func(b []byte) []byte { return bytes.Replace(b, []byte(`"ok"`), []byte(`"OK"`), 1) }), nil, "records.jsonl differs from its sum in SHA256SUMS"},
		"a file more":         {same, named("pages/x.html"), "pages/x.html differs from its sum"},
		"a file less":         {with("README.md", gone), nil, "README.md is named in SHA256SUMS and missing"},
		"a way out":           {same, named("../x"), `"../x" is no file of a bundle`},
		"a way out, absolute": {same, named("/etc/x"), `"/etc/x" is no file of a bundle`},
		"a way out, Windows":  {same, named(`..\x`), `is no file of a bundle`},
		"the folder itself":   {same, named("."), `"." is no file of a bundle`},
		"twice the same":      {same, named(RecordsFile), "two of its files are called records.jsonl"},
		"a link":              {func(h *zip.FileHeader, content []byte) []byte { h.SetMode(os.ModeSymlink | 0o777); return content }, nil, "is no file of a bundle"},
		"too large":           {same, raw("x", 5<<30), "x is too large: 5368709120 bytes"},
		"too large beyond 64 bits": {same, func(w *zip.Writer) error {
			if err := raw("x", 1<<31)(w); err != nil {
				return err
			}
			return raw("y", 1<<64-1<<31)(w)
		}, "y is too large"},
		"too many": {same, func(w *zip.Writer) error {
			for i := range maxFiles {
				if err := named(strings.Repeat("a", i%100+1) + strings.Repeat("b", i/100+1))(w); err != nil {
					return err
				}
			}
			return nil
		}, "files; allowed: 10000"},
	} {
		t.Run(name, func(t *testing.T) {
			path := saved(t, changed(t, data, c.change, c.more))
			_, err := Check(path)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := Check(saved(t, data[:len(data)/2])); err == nil || !strings.Contains(err.Error(), "no zip that can be read") {
		t.Errorf("half a bundle: %v", err)
	}
}

// A zip may say less of a file than it unpacks to: no more than it says is read.
func TestAFileIsReadUpToTheSizeThatTheZipSays(t *testing.T) {
	var zeros, out bytes.Buffer
	w := zip.NewWriter(&zeros)
	f, err := w.Create("x")
	if err == nil {
		_, err = f.Write(make([]byte, 10<<20))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(zeros.Bytes()), int64(zeros.Len()))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := z.File[0].OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	w = zip.NewWriter(&out)
	raw, err := w.CreateRaw(&zip.FileHeader{Name: "x", Method: zip.Deflate, CompressedSize64: z.File[0].CompressedSize64, UncompressedSize64: 5, CRC32: z.File[0].CRC32})
	if err == nil {
		_, err = io.Copy(raw, packed)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	z, err = zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sumOf(z.File[0]); err == nil {
		t.Error("a file is longer than the zip says")
	}
}
