package driver

import (
	"fmt"
	"strings"
)

// ErrUnsupported refuses a setting or guarantee by name. The point is recorded as refused, with this sentence as the reason.
type ErrUnsupported struct {
	Setting string // e.g. "delivery: exactly-once" or "client.linger.ms"
	Reason  string // a clause: "core NATS keeps no copy of a message"
	Path    string // where a spec holds the setting: "delivery", "client.linger.ms", "topicConfig.x-queue-mode"
	Unknown bool   // the driver has no setting of that name; Reason lists those it has
}

func (e *ErrUnsupported) Error() string {
	if e.Unknown {
		return e.Setting + " is unknown; " + e.Reason
	}
	return fmt.Sprintf("%s is not supported: %s", e.Setting, e.Reason)
}

// SettingPath is the setting's path in a spec.
func (e *ErrUnsupported) SettingPath() string { return e.Path }

// Unsupported refuses a setting in the form "path" or "path: value".
func Unsupported(setting, reason string, args ...any) error {
	path, _, _ := strings.Cut(setting, ":")
	if name, ok := strings.CutPrefix(path, string(TopicScope)+"."); ok {
		path = TopicScope.path(name)
	}
	return &ErrUnsupported{Setting: setting, Reason: fmt.Sprintf(reason, args...), Path: path}
}

// ErrSetting is the error of a setting whose value can't be used.
type ErrSetting struct {
	Path string // in a spec
	Err  error  // names the setting
}

func (e *ErrSetting) Error() string { return e.Err.Error() }

func (e *ErrSetting) Unwrap() error { return e.Err }

// SettingPath is the setting's path in a spec.
func (e *ErrSetting) SettingPath() string { return e.Path }
