package driver

import (
	"fmt"
	"strings"
)

// ErrUnsupported refuses a setting or guarantee by name. The point is recorded as refused, with this sentence.
type ErrUnsupported struct {
	Setting string // e.g. "delivery: exactly-once" or "client.linger.ms"
	Reason  string // a clause: "core NATS keeps no copy of a message"
	Path    string // where a spec holds the setting: "delivery", "client.linger.ms", "topicConfig.x-queue-mode"
	Unknown bool   // the driver has no setting of that name; Reason says which it has
}

func (e *ErrUnsupported) Error() string {
	if e.Unknown {
		return e.Setting + " is unknown; " + e.Reason
	}
	return fmt.Sprintf("%s is not supported: %s", e.Setting, e.Reason)
}

// SettingPath is where a spec holds the setting.
func (e *ErrUnsupported) SettingPath() string { return e.Path }

// Unsupported is shorthand for a refusal of a setting in the form "path" or "path: value".
func Unsupported(setting, reason string, args ...any) error {
	path, _, _ := strings.Cut(setting, ":")
	if name, ok := strings.CutPrefix(path, string(TopicScope)+"."); ok {
		path = TopicScope.path(name)
	}
	return &ErrUnsupported{Setting: setting, Reason: fmt.Sprintf(reason, args...), Path: path}
}

// ErrSetting is a setting with a value that can't be used.
type ErrSetting struct {
	Path string // where a spec holds it
	Err  error  // names it
}

func (e *ErrSetting) Error() string { return e.Err.Error() }

func (e *ErrSetting) Unwrap() error { return e.Err }

// SettingPath is where a spec holds the setting.
func (e *ErrSetting) SettingPath() string { return e.Path }
