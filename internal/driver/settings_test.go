package driver

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var declared = []Setting{
	{Scope: ClientScope, Name: "batch.size", Default: int64(16384), Doc: "bytes"},
	{Scope: ClientScope, Name: "linger", Default: 5 * time.Millisecond, Doc: "a duration"},
	{Scope: ClientScope, Name: "ratio", Default: 0.5, Doc: "a share"},
	{Scope: ClientScope, Name: "idempotent", Default: true, Doc: "yes or no"},
	{Scope: ClientScope, Name: "codec", Default: "none", Allowed: []string{"none", "lz4"}, Doc: "a word"},
	{Scope: ClientScope, Name: "label", Default: "", Doc: "any text"},
	{Scope: ClientScope, Name: "window", Default: int64(-1), Least: int64(1), Most: int64(9), Doc: "a bounded number, -1: unset"},
	{Scope: ClientScope, Name: "beat", Default: 10 * time.Second, Least: time.Second, Doc: "a bounded time"},
	{Scope: ClientScope, Name: "share", Default: 0.5, Least: 0.0, Doc: "a bounded share"},
	{Scope: TopicScope, Name: "retention", Default: int64(-1), Doc: "ms"},
}

func TestDecodeRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for name, c := range map[string]struct {
		scope   Scope
		given   map[string]any
		refusal string // the refused setting; empty for an ordinary error
		says    string
	}{
		"an unknown name":         {ClientScope, map[string]any{"batchsize": 1}, `client setting "batchsize"`, `; did you mean "batch.size"?`},
		"a name of another scope": {ClientScope, map[string]any{"retention": 1}, `client setting "retention"`, "batch.size"},
		"nothing is known":        {"server", map[string]any{"x": 1}, `server setting "x"`, "known:"},
		"a fraction":              {ClientScope, map[string]any{"batch.size": 1.5}, "", `client setting "batch.size": "1.5" is not a whole number`},
		"text for a number":       {ClientScope, map[string]any{"ratio": "half"}, "", `client setting "ratio": "half" is not a number`},
		"text for a bool":         {ClientScope, map[string]any{"idempotent": "perhaps"}, "", `client setting "idempotent": "perhaps" is not true or false`},
		"a bare number":           {ClientScope, map[string]any{"linger": 5}, "", `client setting "linger": "5" is not a duration such as 5ms`},
		"a negative duration":     {ClientScope, map[string]any{"linger": "-5ms"}, "", `client setting "linger": "-5ms" is not a duration such as 5ms`},
		"a word that is not one":  {ClientScope, map[string]any{"codec": "zip"}, "", `client setting "codec": "zip" is not one of none, lz4`},
		"too little":              {ClientScope, map[string]any{"window": 0}, "", `client setting "window": 0 is out of range; allowed: 1 to 9`},
		"too much":                {ClientScope, map[string]any{"window": 10}, "", `client setting "window": 10 is out of range; allowed: 1 to 9`},
		"too short":               {ClientScope, map[string]any{"beat": "999ms"}, "", `client setting "beat": 999ms is out of range; allowed: 1s or more`},
		"no number":               {ClientScope, map[string]any{"share": "nan"}, "", `client setting "share": NaN is out of range; allowed: 0 or more`},
		"a list":                  {ClientScope, map[string]any{"batch.size": []any{1}}, "", "is not a whole number"},
	} {
		_, err := Decode(declared, c.scope, c.given)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want it to say %q", name, err, c.says)
		}
		var refused *ErrUnsupported
		if got := errors.As(err, &refused); got != (c.refusal != "") || got && refused.Setting != c.refusal {
			t.Errorf("%s: %v; want the refusal of %q", name, err, c.refusal)
		}
	}
}

func TestConsumersThatCannotChooseWhenToAcknowledgeAreRefusedWithAReason(t *testing.T) {
	_, err := Decode(declared, ClientScope, map[string]any{"consumer.ack": "after"})
	refusal, ok := errors.AsType[*ErrUnsupported](err)
	if !ok || refusal.Unknown || refusal.Path != "client.consumer.ack" || !strings.HasPrefix(err.Error(), "client.consumer.ack is not supported: consumers can't choose here: ") {
		t.Errorf("%v", err)
	}
	if v, err := Decode(append([]Setting{AckSetting()}, declared...), ClientScope, map[string]any{"consumer.ack": "after"}); err != nil || v.String("consumer.ack") != "after" {
		t.Errorf("%v, %v", v, err)
	}
}

func TestDecodeFillsInDefaultsOfItsScopeOnly(t *testing.T) {
	v, err := Decode(declared, ClientScope, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Int("batch.size") != 16384 || v.Duration("linger") != 5*time.Millisecond || v.Float("ratio") != 0.5 ||
		!v.Bool("idempotent") || v.String("codec") != "none" {
		t.Errorf("defaults: %v", v)
	}
	if _, there := v["retention"]; there {
		t.Error("a topic setting appeared among the client's")
	}
}

func TestDecodeTakesValuesAsYAMLAndFlagsGiveThem(t *testing.T) {
	for _, given := range []map[string]any{
		{"batch.size": 1_000_000, "ratio": 1, "idempotent": false, "linger": "0s", "codec": "lz4"},
		{"batch.size": "1000000", "ratio": "1.0", "idempotent": "false", "linger": time.Duration(0), "codec": "lz4"},
		{"batch.size": 1e6, "ratio": int64(1), "idempotent": false, "linger": "0ms", "codec": "lz4"}, // JSON numbers are floats
	} {
		v, err := Decode(declared, ClientScope, given)
		if err != nil {
			t.Errorf("%v: %v", given, err)
			continue
		}
		if v.Int("batch.size") != 1_000_000 || v.Float("ratio") != 1 || v.Bool("idempotent") || v.Duration("linger") != 0 || v.String("codec") != "lz4" {
			t.Errorf("%v became %v", given, v)
		}
	}
}

func TestDecodeLeavesGivenAndDefaultsAlone(t *testing.T) {
	given := map[string]any{"label": "x"}
	v, err := Decode(declared, ClientScope, given)
	if err != nil {
		t.Fatal(err)
	}
	v["label"] = "y"
	if given["label"] != "x" || declared[5].Default != "" {
		t.Error("changing decoded values changed where they came from")
	}
}

func TestWithinItsBoundsAValueIsTaken(t *testing.T) {
	for _, given := range []map[string]any{{"window": 1}, {"window": 9}, {"window": -1}, {"beat": "1s"}, {"share": 0}} {
		if _, err := Decode(declared, ClientScope, given); err != nil {
			t.Errorf("%v: %v", given, err)
		}
	}
}
