package tune

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/verdict"
)

const (
	// LeastConfirmations and mostConfirmations are of how many repetitions each the best and the default are compared at the end. It is said
	// before the first of them, by the time that there is, so that no figure decides it.
	LeastConfirmations = 6
	mostConfirmations  = 12
	// LeastRace is how many repetitions a race of two candidates takes.
	LeastRace = 2 * verdict.Enough

	mostStart  = 8 // candidates of the start
	mostBlocks = 5 // of a stage: one is a repetition of each candidate that is still in
	stageSpan  = 8 // how many numbers of repetitions a stage has for itself
)

// After is the least Skip after a repetition of that number.
func After(repetition int) int { return (repetition + stageSpan - 1) / stageSpan * stageSpan }

// Entry is a candidate in a stage, or in the confirmation.
type Entry struct {
	Candidate Candidate
	Name      string
	Records   []results.Record // of this stage, in the order of their repetitions
	Left      string           // why it left: a clause; "" if it is still in
}

// Ok are the repetitions that ended ok.
func (e *Entry) Ok() []results.Record { return results.EndedOK(e.Records) }

// Stage is a race of some candidates. All are compared by its own repetitions only, which took turns.
type Stage struct {
	Entries []*Entry
	Centre  *Entry // the candidate around which it is; nil at the start
	first   int    // the number of its first repetition
	of      int    // of the confirmation: how many pairs
}

// Step is a repetition that is worth its time.
type Step struct {
	Candidate  Candidate
	Part       string
	Repetition int
	of         int // of Confirm: how many there will be
}

// entry returns the one of a candidate; it adds it if there is none.
func (s *Stage) entry(c *Case, x Candidate) *Entry {
	for _, e := range s.Entries {
		if slices.Equal(e.Candidate, x) {
			return e
		}
	}
	s.Entries = append(s.Entries, &Entry{Candidate: x, Name: c.Name(x)})
	return s.Entries[len(s.Entries)-1]
}

// in are the entries that have not left.
func (s *Stage) in() []*Entry {
	return lists.Filter(s.Entries, func(e *Entry) bool { return e.Left == "" })
}

// done reports whether the entry has the k-th repetition of the stage.
func (s *Stage) done(e *Entry, k int) bool {
	return slices.ContainsFunc(e.Records, func(r results.Record) bool { return r.Repetition == s.first+k-1 })
}

// missing are the k-th repetitions that entries of the stage, which is a part of the tuning, don't have yet.
func (s *Stage) missing(entries []*Entry, k int, part string) []Step {
	left := lists.Filter(entries, func(e *Entry) bool { return !s.done(e, k) })
	return lists.Map(left, func(e *Entry) Step { return Step{e.Candidate, part, s.first + k - 1, s.of} })
}

// Repetitions is how many its entries have.
func (s *Stage) Repetitions() (n int) {
	for _, e := range s.Entries {
		n += len(e.Records)
	}
	return n
}

// stages are those of which there are records, judged, and the confirmation, nil without records.
func (c *Case) stages(records []results.Record) (stages []*Stage, confirmation *Stage) {
	race := map[int]*Stage{} // by how many come before it: some of them may have no records
	for _, r := range results.Latest(records) {
		x, ok := c.candidateOf(r.Axes)
		at := (r.Repetition - c.Skip - 1) / stageSpan
		if !ok || r.Study != c.Study || r.Repetition <= c.Skip || r.Status == results.Aborted {
			continue
		}
		into := confirmation
		switch {
		case r.Axes[sweepAxis] == Confirm && confirmation == nil:
			confirmation = &Stage{first: c.Skip + 1}
			confirmation.of, _ = strconv.Atoi(r.Axes[confirmAxis])
			into = confirmation
		case r.Axes[sweepAxis] == Race:
			if race[at] == nil {
				race[at] = &Stage{first: c.Skip + at*stageSpan + 1}
			}
			into = race[at]
		}
		e := into.entry(c, x)
		e.Records = append(e.Records, r)
	}
	for _, at := range slices.Sorted(maps.Keys(race)) {
		stages = append(stages, race[at])
	}
	for i, s := range stages {
		if i > 0 {
			if best := c.best(stages[i-1].in()); best != nil {
				s.Centre = s.entry(c, best.Candidate)
			}
		}
		c.judge(s)
	}
	if confirmation != nil && len(confirmation.Entries) == 1 && len(stages) > 0 { // its first pair was interrupted
		if best := c.finalist(stages[len(stages)-1]); best != nil {
			confirmation.entry(c, best.Candidate)
		}
	}
	return stages, confirmation
}

// judge has those leave that are shown to be behind, block by block.
func (c *Case) judge(s *Stage) {
	for _, e := range s.Entries {
		slices.SortStableFunc(e.Records, func(a, b results.Record) int { return a.Repetition - b.Repetition })
		for _, r := range e.Records {
			if r.Status == results.Refused || r.Status == results.Failed && r.Result != nil && results.BrokePromise(r) {
				e.Left = r.Reason
			}
		}
		isOther := func(r results.Record) bool { return r.Status != results.Failed }
		if len(e.Records) == 2 && !slices.ContainsFunc(e.Records, isOther) {
			e.Left = "failed twice: " + e.Records[1].Reason
		}
	}
	for k := verdict.Enough; k <= mostBlocks; k++ {
		in := s.in()
		if slices.ContainsFunc(in, func(e *Entry) bool { return !s.done(e, k) }) {
			return
		}
		c.leave(s, in, k)
	}
}

// leave has entries leave by the first k repetitions of a stage.
func (c *Case) leave(s *Stage, in []*Entry, k int) {
	var keep []results.Contender
	misses := map[*Entry]string{}
	for _, e := range in {
		seen := slices.DeleteFunc(e.Ok(), func(r results.Record) bool { return r.Repetition >= s.first+k })
		if len(seen) == 0 {
			last := e.Records[len(e.Records)-1]
			e.Left = fmt.Sprintf("%s: %s", last.Status, last.Reason)
		} else if why := c.misses(seen); why != "" {
			misses[e] = why
		} else if one := results.NewContender(e.Name, c.Goal, seen); one.Summary.N > 0 {
			keep = append(keep, one)
		}
	}
	if len(keep) == 0 {
		return // of those that miss a bound none is shown to be the wrong one
	}
	ranking := results.Rank(c.Goal, keep)
	for _, e := range in {
		if misses[e] != "" {
			e.Left = misses[e]
		}
		for _, behind := range ranking.Behind() {
			if behind.Contender.Name == e.Name {
				e.Left = fmt.Sprintf("%s is %s", c.Goal.Name, behind.Against.ChangeFrom(ranking.Best.Name))
			}
		}
	}
}

// misses says which bound records that ended ok miss; "" if they keep all.
func (c *Case) misses(ok []results.Record) string {
	for _, b := range c.Bounds {
		if m, _, _ := b.Bound(); b.Missed(ok) {
			return fmt.Sprintf("%s is %s, and not %s", m.Name, m.Over(ok).Format(m.Unit), strings.TrimSpace(b.Text[strings.IndexAny(b.Text, "<>"):]))
		}
	}
	return ""
}

// best is the entry with the best median of the goal among those that keep the bounds or, if none does, of the metric of the bound that is
// missed; nil without figures.
func (c *Case) best(entries []*Entry) *Entry {
	ranked := func(m results.Metric, entries []*Entry) *Entry {
		all := lists.Map(entries, func(e *Entry) results.Contender { return results.NewContender(e.Name, m, e.Ok()) })
		if best := results.Rank(m, all).Best; best != nil {
			return entries[slices.IndexFunc(entries, func(e *Entry) bool { return e.Name == best.Name })]
		}
		return nil
	}
	keep := lists.Filter(entries, func(e *Entry) bool { return c.misses(e.Ok()) == "" })
	if best := ranked(c.Goal, keep); best != nil {
		return best
	}
	for _, b := range c.Bounds {
		m, _, _ := b.Bound()
		if best := ranked(m, entries); best != nil {
			return best
		}
	}
	return nil
}

// finalist is the best of a stage, or the one with the fewest changes among those that are shown to differ from it by less than a tenth and
// have a median within a hundredth of its: what changes nothing needn't be pasted.
func (c *Case) finalist(s *Stage) *Entry {
	best := c.best(s.in())
	if best == nil {
		return nil
	}
	fewest := best
	for _, e := range s.in() {
		d := results.DifferenceOf(c.Goal, best.Ok(), e.Ok())
		alike := d.Answer == results.DoesNotDiffer && d.Estimate > 0.99 && d.Estimate < 1.01 && c.misses(e.Ok()) == ""
		if alike && e.Candidate.changes() < fewest.Candidate.changes() {
			fewest = e
		}
	}
	return fewest
}

// Next returns the repetitions that are worth their time now, which take turns, and what they are for. There are none when the answer
// stands, or if there isn't the time. affordable is how many there is time for, the confirmations included. What has begun goes on before anything
// else begins, so that the same command goes on after an interruption.
func (c *Case) Next(records []results.Record, affordable int) (steps []Step, about string) {
	stages, confirmation := c.stages(records)
	if confirmation != nil {
		return c.confirm(confirmation, affordable)
	}
	race := 0
	for _, s := range stages {
		race += s.Repetitions()
	}
	spare := affordable - 2*max(LeastConfirmations, min(mostConfirmations, (race+affordable)/8))
	if len(stages) == 0 {
		return c.block(c.plan(stages, spare), 0, spare)
	}
	last := len(stages) - 1
	if c.planned[last] == nil && !slices.ContainsFunc(stages[last].Entries, func(e *Entry) bool { return stages[last].done(e, 2) }) {
		c.plan(stages[:last], spare+stages[last].Repetitions()) // those of its first block, which was interrupted
	}
	for _, x := range c.planned[last] {
		stages[last].entry(c, x)
	}
	if steps, about := c.block(stages[last], last, spare); steps != nil {
		return steps, about
	}
	if next := c.plan(stages, spare); next != nil {
		if steps, about := c.block(next, last+1, spare); steps != nil {
			return steps, about
		}
	}
	best := c.finalist(stages[last])
	if best == nil || best.Name == Default {
		return nil, ""
	}
	confirmation = &Stage{first: c.Skip + 1, of: max(LeastConfirmations, min(mostConfirmations, affordable/2))}
	confirmation.entry(c, best.Candidate)
	return c.confirm(confirmation, affordable)
}

// plan makes the stage that follows; nil if there is none, or not the time.
func (c *Case) plan(stages []*Stage, spare int) *Stage {
	s := &Stage{first: c.Skip + 1}
	if len(stages) > 0 {
		s.first = stages[len(stages)-1].first + stageSpan
	}
	var members []Candidate
	if len(stages) == 0 {
		members = c.sample(max(2, min(mostStart, spare/(2*verdict.Enough))))
	} else if best := c.best(stages[len(stages)-1].in()); best != nil {
		members = append(members, best.Candidate)
		members = append(members, c.around(best.Candidate, stages)...)
		members = members[:min(len(members), max(0, spare/verdict.Enough))]
	}
	if len(members) < 2 {
		return nil
	}
	if c.planned == nil {
		c.planned = map[int][]Candidate{}
	}
	c.planned[len(stages)] = members
	for _, x := range members {
		s.entry(c, x)
	}
	return s
}

// around are candidates to race with the centre: what improved on the last centre together, and then those that differ in one setting,
// one of each setting first. Left out are those that have raced with this centre, and those that have left.
func (c *Case) around(centre Candidate, stages []*Stage) (all []Candidate) {
	var known []Candidate
	for _, s := range stages {
		for _, e := range s.Entries {
			if e.Left != "" || s.Centre != nil && slices.Equal(s.Centre.Candidate, centre) {
				known = append(known, e.Candidate)
			}
		}
	}
	add := func(x Candidate) {
		if !slices.Equal(x, centre) && !holds(known, x) && !holds(all, x) && c.allowed(x) {
			all = append(all, x)
		}
	}
	if last := stages[len(stages)-1]; last.Centre != nil {
		together := slices.Clone(centre)
		for k := range centre {
			one := slices.DeleteFunc(last.in(), func(e *Entry) bool { return e != last.Centre && last.Centre.Candidate.apart(e.Candidate) != k })
			if best := c.best(one); best != nil && centre[k] == last.Centre.Candidate[k] {
				together[k] = best.Candidate[k]
			}
		}
		add(together)
	}
	for turn, more := 0, true; more; turn++ {
		more = false
		for k, knob := range c.Knobs {
			if near := knob.beside(centre[k]); turn < len(near) {
				more = true
				add(centre.with(k, near[turn]))
			}
		}
	}
	return all
}

// block is what is missing of the stage's next block. All candidates have three repetitions; those that have not left then have two more,
// if they take no more than half of the time that is left.
func (c *Case) block(s *Stage, number, spare int) ([]Step, string) {
	in := s.in()
	for k := 1; k <= mostBlocks; k++ {
		steps := s.missing(in, k, Race)
		if len(steps) == 0 {
			continue
		}
		begun := len(steps) < len(in)
		if further := k > verdict.Enough && !begun; len(steps) > spare || further && (len(in) < 2 || len(in)*(mostBlocks-k+1) > spare/2) {
			return nil, ""
		}
		c.shuffle(steps)
		about := "start"
		if number > 0 {
			about = fmt.Sprintf("around the best, %d", number)
		}
		return steps, fmt.Sprintf("%s: block %d, %d candidates", about, k, len(in))
	}
	return nil, ""
}

// confirm is what is missing of the confirmation's next pair. A repetition that was void or failed is made up for, up to as many again.
func (c *Case) confirm(s *Stage, affordable int) ([]Step, string) {
	s.entry(c, make(Candidate, len(c.Knobs)))
	enough := !slices.ContainsFunc(s.Entries, func(e *Entry) bool { return len(e.Ok()) < s.of })
	for k := 1; k <= 2*s.of && !enough; k++ {
		steps := s.missing(s.Entries, k, Confirm)
		if len(steps) > affordable {
			return nil, ""
		}
		if len(steps) > 0 {
			c.shuffle(steps)
			if k > s.of {
				return steps, "confirmation, for one that did not end ok"
			}
			return steps, fmt.Sprintf("confirmation %d of %d", k, s.of)
		}
	}
	return nil, ""
}

func (c *Case) shuffle(steps []Step) {
	rng := rand.New(rand.NewPCG(uint64(c.Seed), uint64(steps[0].Repetition)))
	rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
}
