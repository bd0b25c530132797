package redis

import (
	"fmt"
	"slices"
	"testing"
)

// A reply that counts to what it doesn't hold once had its reader count on, or take what is beyond its end.
func TestAReplyThatPromisesMoreThanItHoldsIsAnError(t *testing.T) {
	for _, reply := range []string{
		"*9223372036854775807\r\n", "*1\r\n*2\r\n$1\r\ns\r\n*9223372036854775807\r\n", "*1\r\n*2\r\n$9223372036854775807\r\ns\r\n",
		"*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$1\r\n1\r\n*9223372036854775807\r\n",
	} {
		p := parser{rest: []byte(reply)}
		if err := p.each(nil, func([]byte, []message) { t.Errorf("%q has messages", reply) }); err == nil {
			t.Errorf("%q is taken", reply)
		}
	}
}

func FuzzReply(f *testing.F) {
	one := "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\np\r\n$2\r\nab\r\n*2\r\n$3\r\n1-1\r\n*-1\r\n"
	for _, reply := range []string{one, "*-1\r\n", "-NOGROUP no such key\r\n", one[:40], "$5\r\nhello\r\n", "*2\r\n", "*1\r\n*2\r\n$-1\r\n*0\r\n"} {
		f.Add([]byte(reply))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		read := func() (all []string, err error) {
			p := parser{rest: slices.Clone(reply)}
			err = p.each(nil, func(stream []byte, list []message) {
				for _, m := range list {
					all = append(all, fmt.Sprintf("%q %q %q", stream, m.id, m.payload))
				}
			})
			return all, err
		}
		first, err := read()
		if len(first) > len(reply) {
			t.Errorf("%d messages out of %d bytes", len(first), len(reply))
		}
		if second, again := read(); !slices.Equal(first, second) || (err == nil) != (again == nil) {
			t.Errorf("read again: %q, %v; before: %q, %v", second, again, first, err)
		}
	})
}
