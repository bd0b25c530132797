package busiest

import (
	"compress/gzip"
	"io"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A CPU profile is a message of profile.proto (github.com/google/pprof). Of it these fields are read:
//
//	Profile   2: samples   4: locations   5: functions   6: strings
//	Sample    1: locations, the root last   2: values, the second in ns   3: labels
//	Location  1: number    4: lines, the outermost of inlined functions last
//	Line      1: function
//	Function  1: number    2: name
//	Label     1: key       2: value

// Stack is processor time of goroutines with the same functions under way.
type Stack struct {
	Frames []string // functions with the path of their package, the outermost first
	Used   time.Duration
}

// Stacks reads a CPU profile as runtime/pprof writes it.
func Stacks(profile io.Reader) (stacks []Stack, err error) {
	samples, err := unpacked(profile)
	for _, s := range samples {
		stacks = append(stacks, s.Stack)
	}
	return stacks, err
}

func unpacked(profile io.Reader) ([]sample, error) {
	unpacked, err := gzip.NewReader(profile)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// field is one field of a message: a number, or bytes.
type field struct {
	id     protowire.Number
	number uint64
	bytes  []byte
}

// fields reads a message. Fields of other types than numbers and bytes are left out.
func fields(message []byte) (list []field, err error) {
	for len(message) > 0 {
		id, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		message = message[n:]
		f := field{id: id}
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(id, kind, message)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		message = message[n:]
		list = append(list, f)
	}
	return list, nil
}

// numbers returns the numbers of a repeated field, packed or not.
func numbers(list []field, id protowire.Number) (all []uint64) {
	for _, f := range list {
		if f.id != id {
			continue
		}
		if f.bytes == nil {
			all = append(all, f.number)
		}
		for packed := f.bytes; len(packed) > 0; {
			v, n := protowire.ConsumeVarint(packed)
			if n < 0 {
				break
			}
			all, packed = append(all, v), packed[n:]
		}
	}
	return all
}

// last returns the last number of a repeated field; 0 if there is none.
func last(list []field, id protowire.Number) uint64 {
	all := numbers(list, id)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1]
}

// tables are what the samples of a profile refer to by number.
type tables struct {
	texts      []string
	functionOf map[uint64]uint64 // by location
	nameOf     map[uint64]uint64 // by function
}

// text returns a string of the profile; empty if there is none of that number.
func (t *tables) text(i uint64) string {
	if i >= uint64(len(t.texts)) {
		return ""
	}
	return t.texts[i]
}

// addLocation notes in which function a location is.
func (t *tables) addLocation(location []field) error {
	for _, f := range location {
		if f.id != 4 {
			continue
		}
		line, err := fields(f.bytes)
		if err != nil {
			return err
		}
		t.functionOf[last(location, 1)] = last(line, 1)
	}
	return nil
}

// parse reads the samples of a CPU profile.
func parse(profile []byte) ([]sample, error) {
	top, err := fields(profile)
	if err != nil {
		return nil, err
	}
	t := tables{functionOf: map[uint64]uint64{}, nameOf: map[uint64]uint64{}}
	var stacks [][]field
	for _, f := range top {
		if f.id == 6 {
			t.texts = append(t.texts, string(f.bytes))
		}
		if f.id != 2 && f.id != 4 && f.id != 5 {
			continue
		}
		inner, err := fields(f.bytes)
		if err != nil {
			return nil, err
		}
		switch f.id {
		case 2:
			stacks = append(stacks, inner)
		case 4:
			if err := t.addLocation(inner); err != nil {
				return nil, err
			}
		case 5:
			t.nameOf[last(inner, 1)] = last(inner, 2)
		}
	}
	var samples []sample
	for _, stack := range stacks {
		s, err := t.sample(stack)
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// sample reads a sample. The tables must be complete: they come after the samples.
func (t *tables) sample(stack []field) (sample, error) {
	s := sample{Stack: Stack{Used: time.Duration(last(stack, 2))}}
	for _, location := range slices.Backward(numbers(stack, 1)) {
		s.Frames = append(s.Frames, t.text(t.nameOf[t.functionOf[location]]))
	}
	s.root = rootOf(s.Frames)
	for _, f := range stack {
		if f.id != 3 {
			continue
		}
		label, err := fields(f.bytes)
		if err != nil {
			return sample{}, err
		}
		if t.text(last(label, 1)) == owner {
			s.owner = t.text(last(label, 2))
		}
	}
	return s, nil
}
