package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/explain"
	"github.com/brokermark/brokermark/internal/flame"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// profiled is what run needs to know of the repetition in which profilers look at generator and broker. They cost time, so that it leaves no record.
type profiled struct {
	*explained
	folder string
	spec   study.Spec
	own    *os.File // of the generator; nil: it isn't profiled
}

// profileRun repeats a point once, with profilers, and draws what they found, unless that is there already.
func (s *shell) profileRun(ctx context.Context, o runOptions, e *explained, point study.Point, ok []store.Record) error {
	point.Study, point.Label = e.about.Study, point.Label+", profiled"
	point.Spec = explain.Profiled(point.Spec, ok)
	point.Spec.Seed ^= 1 // a point of its own, of which nothing is stored
	point.Spec.Name, point.Spec.Label, point.ID = point.Study, point.Label, point.Spec.ID()
	p := &profiled{explained: e, folder: filepath.Join(unstoredIn(o.store), e.about.Study), spec: point.Spec}
	if err := makeOwn(p.folder); err != nil { // before anything in it is read: finish writes beside it
		return err
	}
	if drawn, _ := filepath.Glob(filepath.Join(p.folder, "*.svg")); len(drawn) > 0 && !o.again {
		return p.finish(s)
	}
	e.first = "explain: one repetition with profilers, which doesn't count"
	defer p.end()
	third := runOptions{store: o.store, format: "table", log: o.log, again: o.again, keep: o.keep, question: p, profiles: p.folder}
	return s.carryOut(ctx, third, plan{points: []study.Point{point}, runs: []study.Run{{Point: &point, Repetition: 1}}})
}

// makeOwn makes a folder, or finds it if this user made it: in one of another user, files that are written may be links.
func makeOwn(folder string) error {
	err := os.Mkdir(folder, 0o755)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(s.Uid) != os.Geteuid() {
		return hinted(badInput("--explain: %s is there, and is no folder that this user made", folder), "move it away, or keep the store elsewhere with --store")
	}
	return nil
}

// begin implements question.
func (p *profiled) begin(st *store.Store, missing map[product]error, say func(format string, args ...any)) {
	p.explained.begin(st, missing, say)
	own, err := os.Create(filepath.Join(p.folder, "generator.pb.gz"))
	if err == nil {
		if err = pprof.StartCPUProfile(own); err != nil {
			err = errors.Join(err, own.Close(), os.Remove(own.Name()))
		}
	}
	if err != nil {
		say("explain: the generator isn't profiled: %v", err)
		return
	}
	p.own = own
}

// end ends the profile of the generator. It may be called again.
func (p *profiled) end() {
	if p.own != nil {
		pprof.StopCPUProfile()
		p.own.Close()
		p.own = nil
	}
}

// finish implements question: it draws what was found, and says where that is.
func (p *profiled) finish(s *shell) error {
	p.end()
	files, err := os.ReadDir(p.folder)
	if err != nil {
		return err
	}
	var drawn, said []string
	ofBroker := false
	for _, f := range files {
		name, isProfile := profileOf(f.Name())
		if !isProfile {
			continue
		}
		ofBroker = ofBroker || name != "generator"
		to := filepath.Join(p.folder, name+".svg")
		if err := draw(to, filepath.Join(p.folder, f.Name()), p.spec.Label+": "+name); err != nil {
			said = append(said, fmt.Sprintf("%s has no flame graph: %v", filepath.Join(p.folder, f.Name()), err))
			continue
		}
		drawn = append(drawn, to)
	}
	if !ofBroker {
		said = append(said, "Of the broker there is no profile: "+p.unprofiled())
	}
	if len(drawn) > 0 {
		said = slices.Insert(said, 0, "Flame graphs, of a repetition that doesn't count, each beside its profile: "+strings.Join(drawn, ", "))
	}
	if p.silent {
		return nil
	}
	_, err = fmt.Fprintf(s.out, "\n%s.\n", strings.Join(said, ".\n"))
	return err
}

// unprofiled says why a broker has no profile.
func (p *profiled) unprofiled() string {
	recipe, hasProcesses := catalog.Started(p.spec.Broker)
	switch {
	case !starts(p.spec):
		return "it is no process that was started here"
	case hasProcesses && recipe.Profiler == nil:
		return "no profiler comes with " + p.spec.Broker
	}
	return "its profiler wrote none"
}

// profileOf returns what a file is the profile of: "kafka-1" of kafka-1.jfr.
func profileOf(file string) (name string, ok bool) {
	for _, ending := range []string{".pb.gz", ".jfr", ".folded"} {
		if name, ok := strings.CutSuffix(file, ending); ok {
			return name, true
		}
	}
	return "", false
}

func draw(to, profile, title string) error {
	stacks, err := flame.Read(context.Background(), profile)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if err := flame.SVG(out, title, stacks); err != nil {
		out.Close()
		_ = os.Remove(to)
		return err
	}
	return out.Close()
}
