// Planned faults in words, and whether they happened.

package reports

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// faultNotDone names a planned fault that did not happen. It is empty if all did.
func faultNotDone(r results.Record) string {
	if r.Result == nil {
		return ""
	}
	planned := 0
	for _, f := range r.Spec.Faults {
		planned++
		if f.For > 0 { // it ends in a resume or a restart
			planned++
		}
	}
	for _, e := range r.Result.Faults {
		if e.Err != "" {
			return fmt.Sprintf("the fault was not carried out: %s: %s", e.Do, e.Err)
		}
	}
	if happened := len(r.Result.Faults); happened < planned {
		return fmt.Sprintf("the fault was not carried out: %d of %d acts happened", happened, planned)
	}
	return ""
}

// faultText names the faults with how long they last and what they hit: "kill -9, 1s, node 2".
func faultText(faults []study.Fault) string {
	var words []string
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
		words = append(words, text+placeText(f.Node))
	}
	return strings.Join(words, "; ")
}

// placeText names the node, or the part of a pipeline, that a fault hits. It is empty for the first node, and for the leader,
// which faultText names before.
func placeText(node string) string {
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
