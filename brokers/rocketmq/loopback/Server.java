package brokermark;

import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.utils.StartAndShutdown;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.namesrv.NamesrvStartup;
import org.apache.rocketmq.proxy.ProxyStartup;
import org.apache.rocketmq.proxy.config.ConfigurationManager;
import org.apache.rocketmq.proxy.config.ProxyConfig;
import org.apache.rocketmq.proxy.grpc.GrpcServer;
import org.apache.rocketmq.proxy.grpc.GrpcServerBuilder;
import org.apache.rocketmq.proxy.grpc.v2.GrpcMessagingApplication;
import org.apache.rocketmq.proxy.processor.MessagingProcessor;
import org.apache.rocketmq.proxy.service.cert.TlsCertificateManager;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/**
 * Starts a name server, a broker and a proxy in one process, as ProxyStartup does in its local mode, but on 127.0.0.1:
 * the proxy binds its port to every interface, and no setting changes that. The proxy's second port, for clients of
 * RocketMQ 4, has no such setting either and is left out; the broker's own port speaks their protocol.
 *
 * With the argument "settings" it prints the names of all settings instead.
 */
public final class Server extends ProxyStartup {
    public static void main(String[] args) {
        if (args.length == 1 && args[0].equals("settings")) {
            print("", BrokerConfig.class, MessageStoreConfig.class, NettyServerConfig.class);
            print("proxy.", ProxyConfig.class);
            return;
        }
        try {
            serve(args[0], args[1], args[2]);
        } catch (Throwable t) {
            t.printStackTrace();
            Runtime.getRuntime().halt(1); // what is up so far would bury the reason in its log
        }
    }

    private static void serve(String nameServer, String broker, String proxy) throws Exception {
        NamesrvController names = NamesrvStartup.main0(new String[] {"-c", nameServer});
        initConfiguration(parseCommandLineArgument(new String[] {"-pc", proxy, "-bc", broker, "-pm", "local"}));
        initThreadPoolMonitor();
        ProxyConfig config = ConfigurationManager.getProxyConfig();
        ThreadPoolExecutor executor = createServerExecutor();
        MessagingProcessor processor = createMessagingProcessor();
        TlsCertificateManager certificates = new TlsCertificateManager();
        GrpcMessagingApplication application = GrpcMessagingApplication.create(processor);
        GrpcServer server = new Loopback(executor, config.getGrpcServerPort(), certificates)
            .addService(application)
            .configInterceptor()
            .shutdownTime(config.getGrpcShutdownTimeSeconds(), TimeUnit.SECONDS)
            .build();
        // What createMessagingProcessor has put there: the broker, the processor and the executor.
        StartAndShutdown rest = (StartAndShutdown) field(ProxyStartup.class, "PROXY_START_AND_SHUTDOWN").get(null);
        StartAndShutdown[] parts = {rest, certificates, application, server};
        for (StartAndShutdown part : parts) {
            part.start();
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            for (int i = parts.length - 1; i >= 0; i--) {
                try {
                    parts[i].preShutdown();
                    parts[i].shutdown();
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }
            names.shutdown();
        }));
        System.out.println("rocketmq has started");
    }

    private static Field field(Class<?> of, String name) throws Exception {
        Field found = of.getDeclaredField(name);
        found.setAccessible(true);
        return found;
    }

    private static void print(String prefix, Class<?>... kinds) {
        TreeMap<String, String> types = new TreeMap<>();
        for (Class<?> kind : kinds) {
            for (Method m : kind.getMethods()) {
                if (m.getName().length() > 3 && m.getName().startsWith("set") && m.getParameterCount() == 1) {
                    String name = prefix + Character.toLowerCase(m.getName().charAt(3)) + m.getName().substring(4);
                    String type = m.getParameterTypes()[0].getSimpleName();
                    types.merge(name, type, (a, b) -> a.equals("String") ? b : a); // of two the one that says more
                }
            }
        }
        types.forEach((name, type) -> System.out.println(name + " " + type));
    }

    private static final class Loopback extends GrpcServerBuilder {
        Loopback(ThreadPoolExecutor executor, int port, TlsCertificateManager certificates) throws Exception {
            super(executor, port, certificates);
            @SuppressWarnings("unchecked")
            List<SocketAddress> addresses = (List<SocketAddress>) field(NettyServerBuilder.class, "listenAddresses").get(serverBuilder);
            addresses.clear();
            addresses.add(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port));
        }
    }
}
