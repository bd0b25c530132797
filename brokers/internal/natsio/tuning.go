package natsio

import "strings"

// Tuning are the server settings that a document may give without being trusted.
var Tuning = strings.Fields(`
max_payload max_pending max_connections max_control_line max_subscriptions max_sub_tokens max_closed_clients write_deadline
ping_interval ping_max debug lame_duck_duration lame_duck_grace_period disable_sublist_cache no_header_support
no_fast_producer_stall connect_error_reports reconnect_error_reports cluster.pool_size cluster.compression
`)
