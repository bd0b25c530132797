package flame

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/busiest"
	"github.com/brokermark/brokermark/internal/lists"
)

// ErrNoTool is what Read wraps if a program is missing that reads the profile.
var ErrNoTool = errors.New("there is no program jfr, which comes with a JDK")

// Read reads the profile in a file, by its ending: .pb.gz of Go (processor time), .jfr of Java (samples of threads that run; needs the JDK's
// program jfr), .folded (frames with semicolons between them, a space, and a count).
func Read(ctx context.Context, path string) ([]Stack, error) {
	if strings.HasSuffix(path, ".jfr") {
		return recording(ctx, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if strings.HasSuffix(path, ".folded") {
		return folded(f)
	}
	profile, err := busiest.Stacks(f)
	stacks := lists.Map(profile, func(s busiest.Stack) Stack { return Stack{Frames: s.Frames, Weight: int64(s.Used)} })
	return stacks, err
}

func folded(from io.Reader) (stacks []Stack, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 {
			return nil, fmt.Errorf("%q has no count", lines.Text())
		}
		n, err := strconv.ParseInt(lines.Text()[at+1:], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q has no count", lines.Text())
		}
		stacks = append(stacks, Stack{Frames: strings.Split(lines.Text()[:at], ";"), Weight: n})
	}
	return stacks, lines.Err()
}

// recording has jfr print the samples of a recording of Java.
func recording(ctx context.Context, path string) ([]Stack, error) {
	jfr, err := exec.LookPath("jfr")
	if err != nil {
		return nil, ErrNoTool
	}
	c := exec.CommandContext(ctx, jfr, "print", "--events", "jdk.ExecutionSample", "--stack-depth", strconv.Itoa(deepest), path)
	c.Env = []string{"PATH=" + os.Getenv("PATH")} // a broker wrote the recording, and options of Java may stand in the environment
	printed, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	stacks, err := samples(printed)
	if ended := c.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("jfr print %s: %w", path, ended))
	}
	return stacks, err
}

// samples reads the events that jfr prints:
//
//	jdk.ExecutionSample {
//	  sampledThread = "data-plane-kafka-request-handler-0" (javaThreadId = 57)
//	  stackTrace = [
//	    java.util.HashMap.hash(Object)   line: 338
//	    kafka.log.UnifiedLog.append(…)   line: 512
//	  ]
//	}
//
// Threads of a pool, which differ by a number at the end, are one.
func samples(printed io.Reader) (stacks []Stack, err error) {
	lines := bufio.NewScanner(printed)
	lines.Buffer(nil, 1<<20)
	thread, inside := "", false
	var frames []string
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "sampledThread = "):
			name, _, _ := strings.Cut(strings.TrimPrefix(line, `sampledThread = "`), `"`)
			thread = strings.TrimRight(name, "0123456789")
		case line == "stackTrace = [":
			inside, frames = true, nil
		case line == "]" && inside:
			slices.Reverse(frames)
			stacks = append(stacks, Stack{Frames: append([]string{thread}, frames...), Weight: 1})
			inside = false
		case inside && line != "...":
			name, _, _ := strings.Cut(line, "(")
			frames = append(frames, name)
		}
	}
	return stacks, lines.Err()
}
