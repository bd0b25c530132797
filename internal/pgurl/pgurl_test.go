package pgurl

import (
	"strings"
	"testing"
)

func TestAPasswordCrossesTheNetworkUnencryptedOnlyWhereTheURLSaysSo(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for given, want := range map[string]string{
		"postgres://me:secret@db/x":                             "db encrypted",
		"postgres://me:secret@10.0.0.7,localhost/x":             "10.0.0.7 encrypted, localhost encrypted, localhost plain",
		"postgres://me:secret@db/x?sslmode=verify-full":         "db encrypted",
		"postgres://me:secret@db/x?sslmode=prefer":              "db encrypted, db plain",
		"postgres://me:secret@db,other/x?sslmode=disable":       "db plain, other plain",
		"postgres://me:secret@127.0.0.2/x":                      "127.0.0.2 encrypted, 127.0.0.2 plain",
		"postgres://me:secret@[::1]/x":                          "::1 encrypted, ::1 plain",
		"postgres://me:secret@/x?host=/var/run/postgresql,db":   "/var/run/postgresql plain, db encrypted",
		"postgres://me:secret@/x?host=db&sslnegotiation=direct": "db encrypted",
	} {
		c, err := Parse(given)
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		kind := map[bool]string{true: " encrypted", false: " plain"}
		ways := []string{c.Host + kind[c.TLSConfig != nil]}
		for _, way := range c.Fallbacks {
			ways = append(ways, way.Host+kind[way.TLSConfig != nil])
		}
		if got := strings.Join(ways, ", "); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
	t.Setenv("PGSSLMODE", "prefer")
	if c, err := Parse("postgres://me:secret@db/x"); err != nil || len(c.Fallbacks) != 1 {
		t.Errorf("PGSSLMODE=prefer is not followed: %v", err)
	}
}
