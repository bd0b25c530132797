package redis

import (
	"strings"
	"testing"
)

func TestAnAttachedServerAnnouncesNoMoreThanItsAnswersMayHave(t *testing.T) {
	for answer, says := range map[string]string{
		"*2\r\n$3\r\nabc\r\n*2\r\n:1\r\n+OK\r\n" + "$-1\r\n*-1\r\n": "",
		"$12\r\n*2000000000\r\r\n+OK\r\n":                           "", // a value, not a head
		"*2000000000\r\n":                                           "an answer of more than 4194304 elements",
		"%1000000000\r\n":                                           "an answer of more than 4194304 elements",
		"%9223372036854775807\r\n":                                  "an answer of more than 4194304 elements",
		strings.Repeat("*1000000\r\n", 5):                           "an answer of more than 4194304 elements", // each inside the one before
		"$2000000000\r\n":                                           "a value of 2000000000 bytes",
		strings.Repeat("A", mostLine+1):                             "a line of more than 65536 bytes",
		"-" + strings.Repeat("A", 1000) + "\r\n":                    "",
	} {
		for _, step := range []int{1, 7, len(answer)} { // as they may come
			g, err := guard{}, error(nil)
			for rest := answer; rest != "" && err == nil; rest = rest[min(step, len(rest)):] {
				err = g.take([]byte(rest[:min(step, len(rest))]))
			}
			if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%.40q in steps of %d: %v; want %q", answer, step, err, says)
			}
		}
	}
}

// As many answers as may be, one after the other, are no large one.
func TestElementsThatHaveComeCountNoMore(t *testing.T) {
	var g guard
	for range 3 {
		if err := g.take([]byte("*2000000\r\n")); err != nil {
			t.Fatal(err)
		}
		for range 2_000_000 {
			if err := g.take([]byte(":1\r\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
}
