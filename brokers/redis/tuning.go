package redis

import "strings"

// tuning are the server settings that an untrusted document may set.
var tuning = strings.Fields(`
appendonly appendfsync no-appendfsync-on-rewrite save auto-aof-rewrite-percentage auto-aof-rewrite-min-size aof-use-rdb-preamble
aof-rewrite-incremental-fsync aof-load-truncated rdb-save-incremental-fsync rdbcompression rdbchecksum stop-writes-on-bgsave-error
maxmemory maxmemory-policy maxmemory-samples maxmemory-clients maxmemory-eviction-tenacity io-threads io-threads-do-reads hz
dynamic-hz lazyfree-lazy-eviction lazyfree-lazy-expire lazyfree-lazy-server-del lazyfree-lazy-user-del lazyfree-lazy-user-flush
activedefrag active-defrag-cycle-min active-defrag-cycle-max active-defrag-threshold-lower active-defrag-threshold-upper
active-expire-effort activerehashing jemalloc-bg-thread client-output-buffer-limit client-query-buffer-limit proto-max-bulk-len
stream-node-max-bytes stream-node-max-entries list-max-listpack-size list-compress-depth hash-max-listpack-entries
hash-max-listpack-value set-max-intset-entries zset-max-listpack-entries zset-max-listpack-value timeout tcp-keepalive tcp-backlog
maxclients databases repl-backlog-size repl-backlog-ttl repl-diskless-sync repl-diskless-sync-delay repl-diskless-load
repl-disable-tcp-nodelay repl-timeout repl-ping-replica-period replica-serve-stale-data replica-priority min-replicas-to-write
min-replicas-max-lag slowlog-log-slower-than slowlog-max-len latency-monitor-threshold latency-tracking loglevel
tracking-table-max-keys disable-thp cluster-replicas cluster-node-timeout cluster-require-full-coverage
cluster-replica-validity-factor cluster-migration-barrier cluster-allow-replica-migration cluster-allow-reads-when-down
cluster-link-sendbuf-limit
`)
