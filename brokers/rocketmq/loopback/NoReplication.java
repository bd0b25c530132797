package brokermark;

import org.apache.rocketmq.store.ha.DefaultHAService;

/**
 * Replication of a broker that has no replica: it doesn't listen for one. The server's own listens on every interface,
 * whatever bindAddress says. The server looks its service up by META-INF/service/org.apache.rocketmq.store.ha.HAService.
 */
public final class NoReplication extends DefaultHAService {
    @Override
    public void start() {
        groupTransferService.start();
        haConnectionStateNotificationService.start();
    }
}
