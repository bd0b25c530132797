package flame

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"reflect"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAFlameGraphHasABoxForEachFunctionBelowItsCallers(t *testing.T) {
	var out bytes.Buffer
	err := SVG(&out, "a <title>", []Stack{{[]string{"main.main", "a/b.read"}, 3}, {[]string{"main.main", "a/b.write<T>"}, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a &lt;title&gt;", "<title>main.main: 100.0 %</title>", "<title>a/b.read: 75.0 %</title>", "<title>a/b.write&lt;T&gt;: 25.0 %</title>", ">b.read</text>",
		`x="900.0" y="40" width="300.0"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if err := xml.Unmarshal(out.Bytes(), new(any)); err != nil {
		t.Error(err)
	}
	if err := SVG(&out, "empty", nil); err == nil {
		t.Error("a profile without samples is drawn")
	}
}

func TestAProfileOfGoIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pb.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		testkit.Without(t, "this process is being profiled")
	}
	for began := time.Now(); time.Since(began) < 300*time.Millisecond; {
		_ = strings.Repeat("x", 1000)
	}
	pprof.StopCPUProfile()
	f.Close()
	stacks, err := Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range stacks {
		found = found || strings.Contains(strings.Join(s.Frames, ";"), "flame.TestAProfileOfGoIsRead") && s.Weight > 0
	}
	if !found {
		t.Errorf("%v", stacks)
	}
}

func TestWhatJFRPrintsIsRead(t *testing.T) {
	got, err := samples(strings.NewReader(`jdk.ExecutionSample {
  startTime = 12:00:00.123
  sampledThread = "handler-7" (javaThreadId = 57)
  state = "STATE_RUNNABLE"
  stackTrace = [
    java.util.HashMap.hash(Object)      line: 338
    kafka.Log.append(int, long) line: 12
    ...
  ]
}
`))
	want := []Stack{{[]string{"handler-", "kafka.Log.append", "java.util.HashMap.hash"}, 1}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestFoldedStacksAreRead(t *testing.T) {
	got, err := folded(strings.NewReader("a;b c 3\nd 1\n"))
	if want := []Stack{{[]string{"a", "b c"}, 3}, {[]string{"d"}, 1}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"a;b\n", "a x\n"} {
		if _, err := folded(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
