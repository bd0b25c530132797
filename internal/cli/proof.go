package cli

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/published"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/reports"
	"github.com/brokermark/brokermark/studies"
	"github.com/brokermark/brokermark/studies/proof"
)

// studyNames returns the studies that come with the program. For proof there is also one for each broker, such as proof/kafka.
func studyNames() []string {
	return slices.Sorted(slices.Values(append(studies.Names(), proof.Name)))
}

// otherStudies says, for one that isn't there, which there are.
func otherStudies(name string) string {
	return strings.Join(studyNames(), ", ") + suggest.DidYouMean(name, studyNames())
}

// readPaper reads the study that --study names, which is one with a folder.
func readPaper(name string) (reports.Paper, error) {
	_, err := studies.FS(name)
	switch _, _, proving := proof.Parse(name); {
	case err != nil && proving:
		return reports.Paper{}, badInput("%s is of no publication", name)
	case err != nil:
		return reports.Paper{}, badInput("%w; studies: %s", err, otherStudies(name))
	}
	paper, err := reports.ReadPaper(name)
	if err != nil {
		return paper, badInput("%w", err)
	}
	return paper, nil
}

// readStudy reads a study that comes with the program: its document and its folder.
func readStudy(name string) (data []byte, folder fs.FS, err error) {
	if name == proof.OfPipeline {
		return proof.Pipeline, nil, nil
	}
	if broker, version, ok := proof.Parse(name); ok {
		data, err = proofStudy(name, broker, version)
		return data, nil, err
	}
	if data, err = studies.Read(name); err != nil {
		return nil, nil, err
	}
	folder, err = studies.FS(name)
	return data, folder, err
}

// parseStudy parses a study. folder holds its further files, or is nil if they are on the disk.
func parseStudy(name string, data []byte, folder fs.FS) (*study.Study, error) {
	s, err := study.Parse(name, data)
	if err != nil {
		return nil, err
	}
	s.Files = folder
	return s, published.Check(s)
}

// provable returns the brokers that can be started, and therefore killed.
func provable() []string {
	return lists.Filter(driver.Names(), func(name string) bool { _, ok := catalog.Started(name); return ok })
}

// proofStudy writes the study over one broker, or over all where that is "".
func proofStudy(name, broker, version string) ([]byte, error) {
	names := provable()
	if broker != "" {
		if !slices.Contains(names, broker) {
			return nil, badInput("%s: no broker %q that could be started here%s", name, broker, suggest.DidYouMean(name, proof.Names(names)))
		}
		names = []string{broker}
	}
	var list []proof.Broker
	for _, n := range names {
		p, err := catalog.Lookup(n)
		if err != nil {
			return nil, err
		}
		v, err := p.Recipe.Version(version)
		if err != nil {
			return nil, err
		}
		list = append(list, proof.Broker{Kind: p.Driver, Version: version, MaxNodes: p.Recipe.Largest(v)})
	}
	return proof.Write(name, list...)
}
