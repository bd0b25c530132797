package artemis

import "strings"

// tuning are the server settings that a document may give without being trusted.
var tuning = strings.Fields(`
persistence-enabled journal-type journal-datasync journal-sync-transactional journal-sync-non-transactional journal-buffer-timeout
journal-buffer-size journal-file-size journal-min-files journal-pool-files journal-max-io journal-device-block-size
journal-compact-min-files journal-compact-percentage journal-file-open-timeout large-message-sync page-sync-timeout
page-max-concurrent-io read-whole-page thread-pool-max-size scheduled-thread-pool-max-size global-max-size global-max-messages
global-max-size-percent-of-jvm-max-memory max-disk-usage min-disk-free disk-scan-period memory-warning-threshold
memory-measure-interval id-cache-size persist-id-cache persist-delivery-count-before-delivery max-redelivery-records
connection-ttl-override connection-ttl-check-interval transaction-timeout transaction-timeout-scan-period
message-expiry-scan-period address-queue-scan-period message-counter-enabled message-counter-sample-period
wild-card-routing-enabled critical-analyzer critical-analyzer-timeout critical-analyzer-check-period critical-analyzer-policy
suppress-session-notifications jmx-notification-enabled authentication-cache-size authorization-cache-size acceptor.amqpCredits
acceptor.amqpLowCredits acceptor.amqpDuplicateDetection acceptor.amqpIdleTimeout acceptor.amqpMinLargeMessageSize
acceptor.amqpTreatRejectAsUnmodifiedDeliveryFailed acceptor.batchDelay acceptor.connectionsAllowed acceptor.connectionTtl
acceptor.directDeliver acceptor.maxFrameSize acceptor.nioRemotingThreads acceptor.remotingThreads acceptor.supportAdvisory
acceptor.tcpNoDelay acceptor.tcpReceiveBufferSize acceptor.tcpSendBufferSize acceptor.useEpoll address-setting.address-full-policy
address-setting.max-size-bytes address-setting.max-size-messages address-setting.page-size-bytes address-setting.page-limit-bytes
address-setting.page-limit-messages address-setting.page-full-policy address-setting.max-read-page-messages
address-setting.max-read-page-bytes address-setting.prefetch-page-messages address-setting.prefetch-page-bytes
address-setting.page-max-cache-size address-setting.max-size-bytes-reject-threshold address-setting.max-delivery-attempts
address-setting.redelivery-delay address-setting.redelivery-delay-multiplier address-setting.max-redelivery-delay
address-setting.redistribution-delay address-setting.default-consumer-window-size address-setting.default-max-consumers
address-setting.default-ring-size address-setting.default-exclusive-queue address-setting.default-last-value-queue
address-setting.default-consumers-before-dispatch address-setting.default-delay-before-dispatch
address-setting.slow-consumer-threshold address-setting.slow-consumer-check-period address-setting.slow-consumer-policy
address-setting.initial-queue-buffer-size address-setting.message-counter-history-day-limit address-setting.id-cache-size
address-setting.auto-create-queues address-setting.auto-delete-queues address-setting.auto-create-addresses
address-setting.auto-delete-addresses address-setting.enable-metrics address-setting.enable-ingress-timestamp
`)
