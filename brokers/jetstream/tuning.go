package jetstream

import (
	"slices"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
)

// tuning are the server settings that an untrusted document may set.
var tuning = slices.Concat(natsio.Tuning, strings.Fields(`
jetstream.sync_interval jetstream.max_memory_store jetstream.max_file_store jetstream.max_mem jetstream.max_file
jetstream.max_outstanding_catchup jetstream.max_buffered_size jetstream.max_buffered_msgs jetstream.request_queue_limit
jetstream.max_concurrent_io jetstream.meta_compact jetstream.meta_compact_size jetstream.meta_compact_sync
`))
