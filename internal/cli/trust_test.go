package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/reports"
)

// Other people copy these studies and change them; the copies need no trust for their settings.
func TestNoServerSettingOfTheStudiesThatComeAlongNeedsTrust(t *testing.T) {
	settings := 0
	for _, name := range studyNames() {
		s, err := embeddedStudy(name)
		if err != nil {
			t.Fatal(err)
		}
		points, err := s.Points()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			settings += len(p.Spec.Server)
		}
		s.Distrusted = true
		if _, err := s.Points(); err != nil && strings.Contains(err.Error(), "server.") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if settings < 10 {
		t.Errorf("only %d settings were looked at", settings)
	}
}

var proposed = regexp.MustCompile(`--set server\.([A-Za-z][A-Za-z0-9._-]*)=`)

func TestNoServerSettingThatThePagesProposeNeedsTrust(t *testing.T) {
	text, err := os.ReadFile("../../docs/fairness.md")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, name := range catalog.Names() {
		p, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Recipe != nil && len(p.Defaults.Tuning) < 10 {
			t.Errorf("%s: %d settings need no trust", name, len(p.Defaults.Tuning))
		}
		known = append(known, p.Defaults.Tuning...)
	}
	found := proposed.FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		if !slices.Contains(known, m[1]) && !strings.HasPrefix(m[1], "jvm.") {
			t.Errorf("%s needs trust", m[1])
		}
	}
	if len(found) < 5 {
		t.Errorf("only %d settings were found", len(found))
	}
}

// By each of them the product reads a file, runs a command, loads code or listens.
func TestADocumentReadsNoFileAndRunsNoCommandByAServerSetting(t *testing.T) {
	for broker, settings := range map[string]string{
		"mosquitto": "acl_file ACL_FILE psk_file password_file crlfile cafile certfile keyfile tls_engine tls_keyform include_dir log_dest plugin auth_plugin",
		"nats":      "operator resolver include tls.cert_file tls.ca_file TLS.Cert_File log_file pid_file ports_file_dir",
		"jetstream": "operator jetstream.store_dir jetstream.tpm.keys_file tls.cert_file",
		"kafka":     "ssl.keystore.location ssl.truststore.location sasl.kerberos.kinit.cmd metric.reporters log.dirs config.providers authorizer.class.name remote.log.storage.manager.class.path",
		"rabbitmq":  "load_definitions definitions.local.path ssl_options.certfile log.file log.dir management.listener.port management.load_definitions",
		"rocketmq":  "metricsPromExporterHost metricsPromExporterPort storePathRootDir storePathCommitLog aclEnable",
		"artemis":   "password-codec journal-directory bindings-directory metrics.plugin.class-name broker-plugins.broker-plugin.class-name",
		"redis":     "include loadmodule logfile pidfile aclfile dir dbfilename unixsocket tls-cert-file bind",
		"qpid":      "storePath keystore.storeUrl",
		"activemq":  "kahaDB.directory plugins.runtimeConfigurationPlugin",
		"pulsar":    "tlsCertificateFilePath functionsWorkerEnabled brokerEntryMetadataInterceptors authenticationProviders zookeeperSessionWatcher.class",
	} {
		for name := range strings.FieldsSeq(settings) {
			s, err := study.Parse("f.yaml", []byte("broker: "+broker+"\nserver: {'"+name+"': x}"))
			if err != nil {
				t.Fatal(err)
			}
			s.Distrusted = true
			if _, err := s.Points(); err == nil || !strings.Contains(err.Error(), "server."+name+": it may have the broker load code, run commands, use files or listen") {
				t.Errorf("%s of %s: %v", name, broker, err)
			}
		}
	}
}

// Pages and bundles of a study show the command that made them, which others paste.
func TestACommandThatAPageShowsDoesOneThingOnly(t *testing.T) {
	_, shown, err := reportOf("folder", reports.Paper{Study: &study.Study{Name: "x; id"}})
	if want := "brokermark report --where 'study=x; id'"; err != nil || shown != want {
		t.Errorf("%q, %v; want %q", shown, err, want)
	}
	if got, want := source(nil, "my $(id).db", "study=x; id", output{}, "report").Command, "brokermark report --store 'my $(id).db' --where 'study=x; id'"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
