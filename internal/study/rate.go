package study

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// isRate reports whether a setting is in messages per second. Such settings may be written as reports print them: 20k/s.
func isRate(path string) bool {
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return slices.Contains([]string{"rate", "to", "maxRate", "rates", "producerRate"}, name)
}

// thousandsIn suggests a spelling for values that may be one number with commas between its thousands: 5,000 parsed as the values
// 5 and 000 or, for a rate, 10,500 as 10 and 500. It is empty if they are real values.
func thousandsIn(path string, values []string) string {
	text := strings.Join(values, ",")
	if !groups.MatchString(text) {
		return ""
	}
	number := strings.ReplaceAll(text, ",", "")
	if slices.ContainsFunc(values[1:], func(v string) bool { return v[0] == '0' }) {
		return fmt.Sprintf("%s are %d values, the last one %s; a number has no commas: %s", text, len(values), values[len(values)-1], number)
	}
	if one, err := ParseRate(number); isRate(path) && err == nil && one <= maxRate {
		return fmt.Sprintf("%s may be one rate or %d; allowed: %s for one, %s/s for %d", text, len(values), number, strings.Join(values, "/s,"), len(values))
	}
	return ""
}

// groups matches a whole number with commas between its thousands.
var groups = regexp.MustCompile(`^[1-9][0-9]{0,2}(,[0-9]{3})+$`)

// thousands are the suffixes of rates.
var thousands = map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9}

// ParseRate parses messages per second: 20000, 20k or 20k/s.
func ParseRate(text string) (float64, error) {
	number := strings.TrimSpace(strings.TrimSuffix(text, "/s"))
	factor := 1.0
	for suffix, f := range thousands {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, factor = strings.TrimSpace(rest), f
			break
		}
	}
	rate, err := strconv.ParseFloat(yamlSpecials.Replace(number), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a rate; allowed: messages per second, such as 20000, 20k or 20k/s", text)
	}
	return rate * factor, nil
}

// day is the period after which the rates of a list repeat.
const day = Duration(24 * time.Hour)

// rateList decodes the producerRateList of AutoMQ's fork of the OpenMessaging Benchmark: rates by the hour and minute of the day,
// such as [[4, 30, 5000], [5, 0, 9000]], or by minutes since the start, such as [[0, 5000], [30, 9000]]. Its generator changes
// linearly from each rate to the next, also from the last one of a day to the first one of the next.
func rateList(d decoder, w written, list [][]float64) []setting {
	rates := map[Duration]float64{}
	for _, row := range list {
		at := timeOfRow(row)
		if at < 0 || len(row) != len(list[0]) {
			d.add(w.at, w.full, "%v is no rate by time as the others are; allowed: [hour, minute, rate] of a day, or [minutes, rate] since the start, below 24 hours", row)
			return nil
		}
		rates[at] = row[len(row)-1]
	}
	if len(rates) == 0 {
		d.add(w.at, w.full, "no rate; allowed: [hour, minute, rate], or [minutes, rate]")
		return nil
	}
	times := slices.Sorted(maps.Keys(rates))
	var around []Step
	for i, at := range times {
		next := times[(i+1)%len(times)]
		length := next - at
		if i == len(times)-1 {
			length += day
		}
		around = append(around, stepTo(rates[at], rates[next], length))
	}
	// The day begins within the last of these steps, unless the list has a rate for its beginning.
	d.note("producerRateList is read as load.steps that repeat every 24h: the rate goes evenly from each time to the next, as the fork has it; " +
		"the day begins with the load")
	return []setting{w.says("load.steps", turned(around, (day-times[0])%day)), w.says("load.shape", steps), w.says("load.repeat", true)}
}

// timeOfRow is the time of day of a row's rate in a producerRateList; below 0 if the row is invalid.
func timeOfRow(row []float64) Duration {
	var minutes float64
	switch {
	case len(row) == 2:
		minutes = row[0]
	case len(row) == 3 && row[1] >= 0 && row[1] < 60:
		minutes = 60*row[0] + row[1]
	default:
		return -1
	}
	if at := Duration(minutes * 60e9); minutes == math.Trunc(minutes) && at >= 0 && at < day {
		return at
	}
	return -1
}

// stepTo is a step from one rate to another.
func stepTo(rate, to float64, length Duration) Step {
	if rate == to {
		return Step{Rate: rate, For: length}
	}
	return Step{rate, &to, length}
}

// turned shifts repeated steps so that they begin later, by less than their total length: the skipped part moves to the end.
func turned(list []Step, by Duration) []Step {
	for i, s := range list {
		if by >= s.For {
			by -= s.For
			continue
		}
		if by == 0 {
			return slices.Concat(list[i:], list[:i])
		}
		cut := s.Rate + (s.End()-s.Rate)*float64(by)/float64(s.For)
		out := append([]Step{stepTo(cut, s.End(), s.For-by)}, list[i+1:]...)
		return append(append(out, list[:i]...), stepTo(s.Rate, cut, by))
	}
	return list
}

// listed makes a list of rates begin with the warm-up, as the fork does, while load.steps begin with the measured phase. It drops
// the producerRate beside the list, which the fork uses for a few seconds.
func (l layer) listed() layer {
	if i := l.index("load.steps"); i < 0 || l[i].as != "producerRateList" {
		return l
	}
	warmup, ok := l.find("warmup.for")
	before, isTime := warmup.value.(Duration)
	if duration, timed := l.find("duration"); !ok && timed && duration.as == "testDurationMinutes" {
		before, isTime = ombWarmup, true
	}
	if i := l.index("load.steps"); isTime {
		l[i].value = turned(l[i].value.([]Step), before%day)
	}
	return slices.DeleteFunc(l, func(s setting) bool { return s.as == "producerRate" })
}
