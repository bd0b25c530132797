package mosquitto

import "strings"

// tuning are the server settings that a document may give without being trusted.
var tuning = strings.Fields(`
max_inflight_messages max_inflight_bytes max_queued_messages max_queued_bytes max_packet_size message_size_limit max_connections
max_keepalive max_qos max_topic_alias set_tcp_nodelay autosave_interval autosave_on_changes persistence
persistent_client_expiration queue_qos0_messages memory_limit sys_interval retain_available retain_expiry_interval
upgrade_outgoing_qos allow_anonymous allow_zero_length_clientid allow_duplicate_messages
`)
