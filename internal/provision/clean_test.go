package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// workDirectory makes a work directory with an installation, an instance, a log and what somebody else has put there.
func workDirectory(t *testing.T) (dir, foreign string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("TMPDIR", t.TempDir()) // reports of crashes are there
	for name, text := range map[string]string{
		"install/kafka-4.3.1/lib/kafka.jar": strings.Repeat("x", 10000), "install/kafka-4.3.1.lock": "",
		"run/bm-kafka-1/state.json": fmt.Sprintf(`{"Form": %d, "ID": "bm-kafka-1", "Broker": "kafka"}`, stateForm), "run/bm-kafka-1/held": "", "run/bm-kafka-1/node-1/data/log": "x",
		"brokermark.log": "x", "fleet/token": "x", "agents/session": "{}", "install/mine/notes.txt": "keep",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "install/mine/notes.txt")
}

func TestCleaningRemovesEverythingThatIsOursAndNothingElse(t *testing.T) {
	dir, foreign := workDirectory(t)
	waiting := filepath.Join(dir, "brokermark-unstored-0123-4711.jsonl")
	ok(t, os.WriteFile(waiting, []byte("{}\n"), 0o600))
	list, err := Holdings(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, h := range list {
		found[h.Path[len(dir)+1:]] = h.What
		if h.Bytes == 0 {
			t.Errorf("%s takes no room", h.Path)
		}
	}
	if len(found) != 5 || found["fleet"] != "control server" || found["agents/session"] != "result" || found["install/kafka-4.3.1"] != "installation" || found["run/bm-kafka-1"] != "run directory" || found["brokermark.log"] != "log" {
		t.Errorf("found %v", found)
	}
	if err := Clear(dir, list); err != nil {
		t.Fatal(err)
	}
	if left, err := Holdings(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "run")); err == nil {
		t.Error("the empty directory run was left")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("what is somebody else's is gone: %v", err)
	}
	if _, err := os.Stat(waiting); err != nil {
		t.Errorf("results that wait for their store are gone: %v", err)
	}
}

func TestCleaningLeavesNothingOfADirectoryThatWasOursAlone(t *testing.T) {
	dir, foreign := workDirectory(t)
	if err := os.RemoveAll(filepath.Dir(foreign)); err != nil {
		t.Fatal(err)
	}
	list, err := Holdings(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := Clear(dir, list); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the work directory was left")
	}
	if list, err := Holdings(dir); err != nil || len(list) > 0 {
		t.Errorf("a directory that isn't there holds %v, %v", list, err)
	}
}

func TestNothingIsRemovedWhileABrokerRunsOrIsBeingInstalled(t *testing.T) {
	for name, occupy := range map[string]func(dir string){
		"runs": func(dir string) {
			text, err := json.Marshal(State{Form: stateForm, ID: "bm-kafka-1", Broker: "kafka", Owner: identify(os.Getpid())})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "run/bm-kafka-1/state.json"), text, 0o644); err != nil {
				t.Fatal(err)
			}
		},
		"is being installed": func(dir string) {
			unlock, err := lockFile(t.Context(), filepath.Join(dir, "install/kafka-4.3.1.lock"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(unlock)
		},
		"an agent keeps it": func(dir string) {
			unlock, err := lockFile(t.Context(), filepath.Join(dir, "agents/session"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(unlock)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := workDirectory(t)
			occupy(dir)
			list, err := Holdings(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := Clear(dir, list); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want an error with %q", err, name)
			}
			if again, err := Holdings(dir); err != nil || len(again) != len(list) {
				t.Errorf("of %d holdings %d are left, %v", len(list), len(again), err)
			}
		})
	}
}

// What a killed installation and a killed start have begun, the reports of crashes and the list of packages stayed.
func TestCleaningRemovesWhatWasOnlyBegunAndReportsOfCrashes(t *testing.T) {
	dir, foreign := workDirectory(t)
	if err := os.RemoveAll(filepath.Dir(foreign)); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(os.TempDir(), "brokermark-crash-1.txt")
	link := filepath.Join(os.TempDir(), "brokermark-crash-2.txt")
	half := filepath.Join(dir, "install/nats-1.new/file")
	for _, path := range []string{half, filepath.Join(dir, "install/nats-1.lock"), filepath.Join(dir, "run/bm-nats-2", holdFile), filepath.Join(dir, packagesFile), report} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("maven\ndefault-jre\nmaven\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/hostname", link); err != nil {
		t.Fatal(err)
	}
	if got := Packages(dir); !slices.Equal(got, []string{"default-jre", "maven"}) {
		t.Errorf("packages %v", got)
	}
	list, err := Holdings(dir)
	if err != nil || len(list) != 9 {
		t.Errorf("%d holdings, want 9: %+v, %v", len(list), list, err)
	}
	if err := Clear(dir, list); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the work directory was left")
	}
	if _, err := os.Lstat(report); err == nil {
		t.Error("the report was left")
	}
	if _, err := os.Lstat(link); err != nil {
		t.Error("a link that somebody else may have made is gone")
	}
}

// An installation that waits for a lock which is removed meanwhile must not run beside one that makes the lock anew.
func TestALockThatIsRemovedIsNoLock(t *testing.T) {
	dir, _ := workDirectory(t)
	path := filepath.Join(dir, "install/kafka-4.3.1"+lockSuffix)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		var inside, most atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				unlock, err := lockFile(ctx, path)
				if err != nil {
					t.Error(err)
					return
				}
				defer unlock()
				most.Store(max(most.Load(), inside.Add(1)))
				time.Sleep(time.Millisecond)
				inside.Add(-1)
				_ = os.Remove(path) // as Clear does, at last
			})
		}
		all.Wait()
		cancel()
		if most.Load() > 1 {
			t.Fatalf("%d had the lock at once", most.Load())
		}
	}
}
