package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// maxNamed is how many studies or hosts the line below the title names.
const maxNamed = 3

// origin says in a line when, where and with which version the records of a page were made: "Study smoke · 2026-10-01 to 2026-10-02 ·
// on lab (8 cores, Xeon) · brokermark 1.4". It leaves out what isn't known, as of results from elsewhere.
func origin(s Source) string {
	if !s.hasFigures() {
		return ""
	}
	var parts []string
	records := s.Set.Records
	if studies := distinct(records, func(r store.Record) string { return r.Study }); len(studies) > 0 {
		parts = append(parts, "Study "+results.FirstFew(studies, maxNamed))
	}
	if days := distinct(records, dayOf); len(days) == 1 {
		parts = append(parts, days[0])
	} else if len(days) > 1 {
		parts = append(parts, days[0]+" to "+days[len(days)-1])
	}
	if hosts := distinct(records, hostOf); len(hosts) > 0 {
		parts = append(parts, "on "+results.FirstFew(hosts, maxNamed))
	}
	if s.Tool != "" {
		parts = append(parts, "brokermark "+s.Tool)
	}
	return strings.Join(parts, " · ")
}

// dayOf returns the day on which a repetition began, in UTC. The result is empty if that isn't known.
func dayOf(r store.Record) string {
	if r.Began.IsZero() {
		return ""
	}
	return r.Began.UTC().Format(time.DateOnly)
}

// hostOf describes the machine of a repetition. It is empty if that isn't known.
func hostOf(r store.Record) string {
	if r.Host.Cores == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d cores, %s)", r.Host.Name, r.Host.Cores, r.Host.CPU)
}

// distinct lists the texts of records, each once and sorted, without empty ones.
func distinct(records []store.Record, text func(store.Record) string) []string {
	texts := map[string]bool{}
	for _, r := range records {
		if t := text(r); t != "" {
			texts[t] = true
		}
	}
	return slices.Sorted(maps.Keys(texts))
}
