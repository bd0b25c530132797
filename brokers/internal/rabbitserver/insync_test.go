package rabbitserver

import "testing"

func TestTheQueueWithTheFewestMembersOnlineCounts(t *testing.T) {
	for lines, want := range map[string]int{
		"":                                   0,
		"members\tonline\n\t\n":              0,
		"[r-1@localhost]\t[r-1@localhost]\n": 0,
		"[r-1@localhost, r-2@localhost]\t[r-1@localhost, r-2@localhost]\n\t\n":           2,
		"[r-1@a, r-2@a, r-3@a]\t[r-1@a, r-2@a, r-3@a]\n[r-1@a, r-2@a, r-3@a]\t[r-2@a]\n": 1,
	} {
		if got := fewest(lines); got != want {
			t.Errorf("%q: %d, want %d", lines, got, want)
		}
	}
}
