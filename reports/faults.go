package reports

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// faultNotDone names a planned fault that was not carried out as planned. It is empty if all were. A
// fault with a duration is two acts: it begins, and it ends in a resume or a restart.
func faultNotDone(r results.Record) string {
	if r.Result == nil {
		return ""
	}
	planned := 0 // acts
	for _, f := range r.Spec.Faults {
		planned++
		if f.For > 0 {
			planned++
		}
	}
	for _, act := range r.Result.Faults {
		if act.Err != "" {
			return fmt.Sprintf("the fault was not carried out: %s: %s", act.Do, act.Err)
		}
	}
	if happened := len(r.Result.Faults); happened < planned {
		return fmt.Sprintf("the fault was not carried out: %d of %d acts happened", happened, planned)
	}
	return ""
}

// faultText names planned faults, with how long they last and what they hit: "kill -9, 1s, node 2".
func faultText(faults []study.Fault) string {
	var texts []string
	for _, f := range faults {
		text := f.Do
		if text == "kill" {
			text = "kill -9"
		}
		if f.Node == "leader" {
			text += " leader"
		}
		if f.For > 0 {
			text += ", " + time.Duration(f.For).String()
		}
		texts = append(texts, text+targetText(f.Node))
	}
	return strings.Join(texts, "; ")
}

// targetText names the node, or the part of a pipeline, that a fault hits: ", node 2". It is empty for
// the first node, and for the leader, which faultText names before the duration.
func targetText(node string) string {
	switch node {
	case "", "1", "leader":
		return ""
	case "all":
		return ", all nodes"
	}
	if _, err := strconv.Atoi(node); err == nil {
		return ", node " + node
	}
	return ", " + node
}
