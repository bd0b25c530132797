package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/studies"
	"github.com/brokermark/brokermark/studies/proof"
)

// studies reads the studies that args name. Without arguments it is one of the flags alone, or without those a short first run.
func (w *workload) studies(args []string) ([]*study.Study, error) {
	if len(args) == 0 {
		if w.untouched() {
			s := study.New("first-run")
			s.Quick()
			return []*study.Study{s}, nil
		}
		return []*study.Study{study.New("command-line")}, nil
	}
	var found []*study.Study
	for _, arg := range args {
		name, data, folder, err := w.read(arg)
		if err != nil {
			return nil, err
		}
		root, invalid := study.Tree(name, data)
		if root != nil && exchange.IsOMBDriver(root) {
			if err := w.addDriver(name, root); err != nil {
				return nil, err
			}
			continue
		}
		if instead := exchange.Elsewhere(name, data, root); instead != "" {
			return nil, badInput("%s: %s", name, instead)
		}
		if invalid != nil {
			return nil, invalid
		}
		s, err := parseStudy(name, data, folder)
		if err != nil {
			return nil, err
		}
		s.Distrusted = folder == nil && !w.trust // those that come with the program have a folder in it
		found = append(found, s)
	}
	if len(found) == 0 { // nothing but drivers
		found = []*study.Study{study.New("command-line")}
	}
	return found, nil
}

// addDriver reads a driver file of the OpenMessaging Benchmark, whose settings go before those of the studies. Several would be one broker each.
func (w *workload) addDriver(name string, root *yaml.Node) error {
	if w.driver != "" {
		return badInput("%s: a second driver file, after %s; allowed: one, and --broker for several brokers", name, w.driver)
	}
	file, err := study.Plain(name, root)
	if err != nil {
		return err
	}
	read, err := exchange.ReadOMBDriver(file.(map[string]any))
	if err != nil {
		return badInput("%s: %w", name, err)
	}
	w.driver, w.ofDriver = name, read
	return nil
}

// read reads the document that arg names: "-" is standard input, and other words a study that comes with the program, a file, or a
// folder with a study's document. folder is that of a study inside the program, or nil.
func (w *workload) read(arg string) (name string, data []byte, folder fs.FS, err error) {
	if arg == "-" {
		data, err = bounded.All(w.sh.in, maxDocument)
		return "stdin", data, nil, err
	}
	if _, _, proving := proof.Parse(arg); proving || slices.Contains(studies.Names(), arg) {
		data, folder, err = readStudy(arg)
		return arg + ".yaml", data, folder, err
	}
	if isDir(arg) {
		arg = filepath.Join(arg, studies.Document)
	}
	data, err = bounded.File(arg, maxDocument)
	broker, _, _ := strings.Cut(arg, "@")
	looksLikeFile := strings.ContainsRune(arg, os.PathSeparator) || filepath.Ext(arg) != ""
	switch {
	case errors.Is(err, fs.ErrNotExist) && slices.Contains(driver.Names(), broker):
		return "", nil, nil, badInput("no study or file %q; a broker is named by a flag: --broker %s", arg, arg)
	case errors.Is(err, fs.ErrNotExist) && !looksLikeFile:
		return "", nil, nil, badInput("no study or file %q; studies: %s", arg, otherStudies(arg))
	case err != nil:
		return "", nil, nil, cannotRead("study file "+arg, err)
	}
	return arg, data, nil, nil
}

// maxDocument bounds a study's document, in bytes. Parse has a lower limit with a better error.
const maxDocument = 64 << 20

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
