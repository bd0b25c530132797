import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.packets.connect.ConnackReasonCode;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopOutput;
import com.hivemq.extension.sdk.api.services.Services;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs HiveMQ until it is told to end: CONFIGURATION-FOLDER DATA-FOLDER FILE-WITH-USER-AND-PASSWORD. */
public class Launcher {
    public static void main(String[] args) throws Exception {
        List<String> login = Files.readAllLines(Path.of(args[2]));
        var builder = EmbeddedHiveMQ.builder()
            .withConfigurationFolder(Path.of(args[0])).withDataFolder(Path.of(args[1])).withoutLoggingBootstrap();
        if (login.size() == 2) {
            builder = builder.withEmbeddedExtension(EmbeddedExtension.builder()
                .withId("login").withName("login").withVersion("1").withExtensionMain(new OneLogin(login.get(0), login.get(1))).build());
        }
        EmbeddedHiveMQ server = builder.build();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> server.stop().join()));
        server.start().join();
        Thread.currentThread().join();
    }

    /** Lets one user in. Without it the server lets everybody in. */
    private record OneLogin(String user, String password) implements ExtensionMain {
        @Override
        public void extensionStart(ExtensionStartInput in, ExtensionStartOutput out) {
            SimpleAuthenticator authenticator = (connect, answer) -> {
                var packet = connect.getConnectPacket();
                var given = packet.getPassword().map(p -> StandardCharsets.UTF_8.decode(p).toString());
                if (packet.getUserName().filter(user::equals).isPresent() && given.filter(password::equals).isPresent()) {
                    answer.authenticateSuccessfully();
                } else {
                    answer.failAuthentication(ConnackReasonCode.BAD_USER_NAME_OR_PASSWORD, "unknown");
                }
            };
            Services.securityRegistry().setAuthenticatorProvider(input -> authenticator);
        }

        @Override
        public void extensionStop(ExtensionStopInput in, ExtensionStopOutput out) {}
    }
}
