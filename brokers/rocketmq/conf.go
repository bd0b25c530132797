package rocketmq

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

const (
	proxyPrefix = "proxy." // of settings that are the proxy's
	clusterName = "brokerClusterName"
	brokerName  = "broker-a"
)

// logback writes what matters to standard output; the server's own configuration writes some forty files below the user's home.
const logback = `<configuration>
  <statusListener class="org.apache.rocketmq.logging.ch.qos.logback.core.status.NopStatusListener"/>
  <appender name="out" class="org.apache.rocketmq.logging.ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>[%d] %p %m \(%c\)%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
`

// configure writes the files of the name server, the broker and the proxy, which are one process.
func configure(_ context.Context, n *provision.Node) error {
	asked, _, err := jvm.Split(n.Cluster.Settings)
	if err != nil {
		return err
	}
	known, err := os.ReadFile(filepath.Join(n.Cluster.Install, knownNames))
	if err != nil {
		return err
	}
	types := map[string]string{}
	for line := range strings.Lines(string(known)) {
		name, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		types[name] = kind
	}
	broker, proxy := brokerOwn(n), proxyOwn(n)
	for name, value := range asked {
		parsed, err := parse(types, name, value)
		if err != nil {
			return err
		}
		own, isProxy := strings.CutPrefix(name, proxyPrefix)
		_, ours := broker[name]
		if isProxy {
			_, ours = proxy[own]
		}
		switch {
		case ours && name != flushing:
			return &provision.ErrSetting{Name: name, Reason: "it is set by the recipe, so that the broker is found and alone"}
		case isProxy:
			proxy[own] = parsed
		default:
			broker[name] = value
		}
	}
	proxyText, err := json.Marshal(proxy)
	if err != nil {
		return err
	}
	// A certificate that names no host: the proxy needs one in any case, and takes seconds to make it itself.
	own, err := provision.NewKeyPair(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nobody"}, NotBefore: time.Now(), NotAfter: time.Now().AddDate(1, 0, 0),
	}, nil)
	if err != nil {
		return err
	}
	names := map[string]string{
		"listenPort": strconv.Itoa(n.Ports[namesPort]), "bindAddress": "127.0.0.1",
		"kvConfigPath": filepath.Join(n.Data, "kvConfig.json"), "configStorePath": filepath.Join(n.Data, "namesrv.properties"),
	}
	var errs []error
	for name, text := range map[string][]byte{
		"namesrv.conf": []byte(jvm.Properties(names)), "broker.conf": []byte(jvm.Properties(broker)), "proxy.json": proxyText,
		"logback.xml": []byte(logback), keyFile: own.Key, certFile: own.Cert,
	} {
		errs = append(errs, n.Write(name, text))
	}
	return errors.Join(errs...)
}

// brokerOwn returns the broker's settings for this instance, and how it flushes by default.
func brokerOwn(n *provision.Node) map[string]string {
	return map[string]string{
		clusterName: n.Cluster.ID, "brokerName": brokerName, "brokerId": "0", "brokerRole": "ASYNC_MASTER", "brokerIP1": "127.0.0.1", "brokerIP2": "127.0.0.1",
		"listenPort": strconv.Itoa(n.Ports[brokerPort]), "bindAddress": "127.0.0.1", "namesrvAddr": n.At(namesPort),
		"storePathRootDir": n.Data, "storePathCommitLog": filepath.Join(n.Data, "commitlog"), "haListenPort": strconv.Itoa(n.Ports[brokerPort] + 1),
		"enableControllerMode": "false", "enableDLegerCommitLog": "false", "duplicationEnable": "false", "autoCreateTopicEnable": "false",
		"metricsPromExporterHost": "127.0.0.1",
		flushing:                  flushLate,
	}
}

const (
	keyFile  = "proxy.key"
	certFile = "proxy.crt"
)

func proxyOwn(n *provision.Node) map[string]any {
	return map[string]any{
		"rocketMQClusterName": n.Cluster.ID, "proxyClusterName": n.Cluster.ID, "proxyMode": "local", "localServeAddr": "127.0.0.1",
		"grpcServerPort": n.Ports["client"], "namesrvAddr": n.At(namesPort), "brokerConfigPath": filepath.Join(n.Dir, "broker.conf"),
		"metricsPromExporterHost": "127.0.0.1", "tlsTestModeEnable": false, "tlsKeyPath": filepath.Join(n.Dir, keyFile), "tlsCertPath": filepath.Join(n.Dir, certFile),
	}
}

// parse checks a setting by name and type: the server ignores names that it doesn't know.
func parse(types map[string]string, name, value string) (any, error) {
	kind, ok := types[name]
	if !ok {
		return nil, &provision.ErrSetting{Name: name, Reason: "there is none of that name; the nearest is " + suggest.Closest(name, slices.Sorted(maps.Keys(types)))}
	}
	var parsed any = value
	var err error
	switch strings.ToLower(kind) {
	case "boolean":
		if value != "true" && value != "false" {
			err = errors.New("no boolean")
		}
		parsed = value == "true"
	case "int", "integer", "long", "short":
		parsed, err = strconv.ParseInt(value, 10, 64)
	case "double", "float":
		parsed, err = strconv.ParseFloat(value, 64)
	case "flushdisktype":
		if value != flushSync && value != flushLate {
			return nil, &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not one of %s, %s", value, flushLate, flushSync)}
		}
	}
	if err != nil {
		return nil, &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not a value of type %s", value, kind)}
	}
	return parsed, nil
}
