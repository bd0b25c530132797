package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctorNamesTheSameSettingEveryTime(t *testing.T) {
	sys := t.TempDir()
	for name, value := range map[string]string{"user/max_user_namespaces": "0\n", "kernel/unprivileged_userns_clone": "0\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(sys, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sys, name), []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for range 20 {
		seen[userNamespaces(sys).doubt] = true
	}
	if len(seen) > 1 {
		t.Errorf("different doubts: %v", seen)
	}
}

func TestBrokersAreLeftOutInTheSameOrderEveryTime(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		var out strings.Builder
		missing := map[product]error{{"kafka", "2.2.0"}: errors.New("x"), {"kafka", "4.3.1"}: errors.New("y"), {"nats", ""}: errors.New("z")}
		if _, err := (plan{}).without(missing, &progress{out: &out}); err == nil {
			t.Fatal("nothing is left, and no error")
		}
		seen[out.String()] = true
	}
	if len(seen) > 1 {
		t.Errorf("different orders: %v", seen)
	}
}
