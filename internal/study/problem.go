package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one error in a study: its position and what is allowed instead.
type Problem struct {
	File string // the file, or the flag as written: --set 'x=y'
	Line int    // 0 where there is none
	Path string // "" where the whole file is meant
	Text string
}

// String is "study.yaml:7: load.rate: …", in one line whatever it quotes of a document.
func (p Problem) String() string { return strings.ReplaceAll(p.text(), "\n", " ") }

func (p Problem) text() string {
	text := p.Text
	if p.Path != "" {
		text = p.Path + ": " + text
	}
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, text)
	case p.File != "":
		return p.File + ": " + text
	}
	return text
}

// Errors are all the problems found together; at most ten are shown.
type Errors struct{ Problems []Problem }

const shownProblems = 10

// refusal is the error of one problem, of a flag (line 0) or of a whole file.
func refusal(file string, line int, format string, args ...any) error {
	return &Errors{[]Problem{{File: file, Line: line, Text: fmt.Sprintf(format, args...)}}}
}

func (e *Errors) Error() string {
	lines := texts(e.Problems[:min(len(e.Problems), shownProblems)], Problem.String)
	if more := len(e.Problems) - shownProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// problems collects problems, each once.
type problems struct {
	found []Problem
	seen  map[Problem]bool
	notes []string // how something was read that others mean in another way
	made  int      // values that a document stands for beside those that are written in it; see decoder.spend

	compared int // values and rules with conditions, see decoder.checkRules
}

// note adds a note, once.
func (ps *problems) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(ps.notes, text) {
		ps.notes = append(ps.notes, text)
	}
}

func (ps *problems) add(at place, path, format string, args ...any) {
	p := Problem{at.file, at.line, path, fmt.Sprintf(format, args...)}
	if ps.seen == nil {
		ps.seen = map[Problem]bool{}
	}
	if !ps.seen[p] {
		ps.seen[p] = true
		ps.found = append(ps.found, p)
	}
}

// enoughWrong is the number of problems after which no more are looked for where each takes long to say: it may list all that is allowed.
const enoughWrong = 50

func (ps *problems) enough() bool { return len(ps.found) >= enoughWrong }

// err is nil without problems; problems are in the order of lines, those without a line last.
func (ps *problems) err() error {
	if len(ps.found) == 0 {
		return nil
	}
	slices.SortStableFunc(ps.found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(uint(a.Line-1), uint(b.Line-1)))
	})
	return &Errors{ps.found}
}
