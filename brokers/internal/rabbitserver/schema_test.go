package rabbitserver

import (
	"errors"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

// schema has the forms that the server's own file is written in.
const schema = `
%% {mapping, "commented.out", "rabbit.x", [{datatype, integer}]}.
{mapping, "vm_memory_high_watermark.relative", "rabbit.vm_memory_high_watermark", [
    {datatype, float}]}.
{mapping, "disk_free_limit.absolute", "rabbit.disk_free_limit", [
    {datatype, [integer, string]}]}.
{mapping, "frame_max", "rabbit.frame_max", [{datatype, bytesize}]}.
{mapping, "channel_max", "rabbit.channel_max", [{datatype, integer}, {validators, ["non_negative"]}]}.
{mapping, "cluster_partition_handling", "rabbit.cluster_partition_handling",
    [{datatype, {enum, [ignore, pause_minority,
                        autoheal]}}]}.
{mapping, "log.$channel.level", "rabbit.log.level", []}.
`

func TestServerSettingsAreRefusedByNameBeforeTheServerStarts(t *testing.T) {
	known := parseSchema(schema)
	for _, tc := range []struct{ name, value, reason string }{
		{"listeners.tcp.1", "5672", "it is set by the recipe, so that the broker is found and alone"},
		{"stream.listeners", "none", "it is set by the recipe, so that the broker is found and alone"},
		{"stream.listeners.tcp.1", "5552", "it is set by the recipe, so that the broker is found and alone"},
		{"frame_maks", "1", "rabbitmq.conf has no such key; the nearest is frame_max"},
		{"commented.out", "1", "rabbitmq.conf has no such key; the nearest is channel_max"},
		{"frame_max.more", "1", "rabbitmq.conf has no such key; the nearest is frame_max"},
		{"frame_max", "abc", `"abc" is not a size such as 64MB`},
		{"channel_max", "1.5", `"1.5" is not a whole number`},
		{"vm_memory_high_watermark.relative", "half", `"half" is not a number`},
		{"cluster_partition_handling", "pray", `"pray" is not one of ignore, pause_minority, autoheal`},
		{"frame_max", "64KB", ""},
		{"channel_max", "0", ""},
		{"disk_free_limit.absolute", "2GB", ""},
		{"vm_memory_high_watermark.relative", "0.6", ""},
		{"cluster_partition_handling", "autoheal", ""},
		{"log.console.level", "debug", ""},
	} {
		err := checkKey(known, []string{"stream.listeners"}, tc.name, tc.value)
		var refused *provision.ErrSetting
		switch {
		case tc.reason == "" && err != nil:
			t.Errorf("%s = %s: %v; want it accepted", tc.name, tc.value, err)
		case tc.reason == "":
		case !errors.As(err, &refused) || refused.Name != tc.name || refused.Reason != tc.reason:
			t.Errorf("%s = %s: %v; want it refused by name: %s", tc.name, tc.value, err, tc.reason)
		}
	}
}
