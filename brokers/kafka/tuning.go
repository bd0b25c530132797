package kafka

import "strings"

// tuning are the server settings that an untrusted document may set.
var tuning = strings.Fields(`
num.io.threads num.network.threads num.replica.fetchers num.recovery.threads.per.data.dir num.partitions
default.replication.factor min.insync.replicas background.threads queued.max.requests queued.max.request.bytes message.max.bytes
compression.type compression.gzip.level compression.lz4.level compression.zstd.level unclean.leader.election.enable
auto.leader.rebalance.enable controlled.shutdown.enable log.flush.interval.messages log.flush.interval.ms
log.flush.scheduler.interval.ms log.flush.offset.checkpoint.interval.ms log.flush.start.offset.checkpoint.interval.ms
log.segment.bytes log.segment.delete.delay.ms log.roll.ms log.roll.hours log.retention.bytes log.retention.ms
log.retention.minutes log.retention.hours log.retention.check.interval.ms log.cleanup.policy log.cleaner.enable
log.cleaner.threads log.cleaner.dedupe.buffer.size log.cleaner.io.buffer.size log.cleaner.backoff.ms
log.cleaner.min.cleanable.ratio log.index.interval.bytes log.index.size.max.bytes log.preallocate log.message.timestamp.type
socket.receive.buffer.bytes socket.send.buffer.bytes socket.request.max.bytes replica.fetch.min.bytes replica.fetch.max.bytes
replica.fetch.wait.max.ms replica.fetch.response.max.bytes replica.fetch.backoff.ms replica.lag.time.max.ms
replica.socket.receive.buffer.bytes replica.socket.timeout.ms replica.high.watermark.checkpoint.interval.ms fetch.max.bytes
max.incremental.fetch.session.cache.slots connections.max.idle.ms max.connections max.connections.per.ip request.timeout.ms
producer.id.expiration.ms producer.purgatory.purge.interval.requests fetch.purgatory.purge.interval.requests
offsets.topic.num.partitions offsets.topic.replication.factor offsets.topic.segment.bytes offsets.commit.timeout.ms
offsets.load.buffer.size offsets.retention.minutes transaction.state.log.num.partitions transaction.state.log.replication.factor
transaction.state.log.min.isr transaction.state.log.segment.bytes transaction.max.timeout.ms
transaction.partition.verification.enable transaction.two.phase.commit.enable transactional.id.expiration.ms
group.initial.rebalance.delay.ms group.min.session.timeout.ms group.max.session.timeout.ms group.max.size
group.coordinator.threads group.coordinator.append.linger.ms group.consumer.heartbeat.interval.ms
group.consumer.min.heartbeat.interval.ms group.consumer.max.heartbeat.interval.ms group.consumer.session.timeout.ms
group.consumer.min.session.timeout.ms group.consumer.max.session.timeout.ms group.consumer.max.size
group.share.heartbeat.interval.ms group.share.min.heartbeat.interval.ms group.share.max.heartbeat.interval.ms
group.share.session.timeout.ms group.share.min.session.timeout.ms group.share.max.session.timeout.ms group.share.max.size
group.share.delivery.count.limit group.share.record.lock.duration.ms group.share.partition.max.record.locks
group.share.max.share.sessions share.coordinator.append.linger.ms share.coordinator.threads
share.coordinator.state.topic.num.partitions share.coordinator.state.topic.replication.factor
share.coordinator.state.topic.min.isr broker.heartbeat.interval.ms broker.session.timeout.ms
`)
