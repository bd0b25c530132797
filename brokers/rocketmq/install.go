package rocketmq

import (
	"context"
	"embed"
	"errors"
	"os"
	"path/filepath"

	"github.com/brokermark/brokermark/brokers/internal/jvm"
	"github.com/brokermark/brokermark/internal/provision"
)

// locks are the SHA-256 of the files that each version is fetched as.
//
//go:embed locks
var locks embed.FS

// loopback is what starts the server on 127.0.0.1 alone. Its files say why that takes more than settings.
//
//go:embed loopback/Server.java loopback/NoReplication.java
var loopback embed.FS

const (
	// knownNames is the file with the names of all settings.
	knownNames = "settings.txt"
	mainClass  = "brokermark.Server"
	// provider is where the server looks for a class that replicates, and finds ours.
	provider = "META-INF/service/org.apache.rocketmq.store.ha.HAService"
)

// install fetches the server, compiles what starts it, and asks it for the names of its settings.
func install(ctx context.Context, i *provision.Install) error {
	const group = "org.apache.rocketmq:rocketmq-"
	if err := i.Maven(ctx, locks, group+"proxy:"+i.Version, group+"namesrv:"+i.Version, jvm.Compiler); err != nil {
		return err
	}
	if err := jvm.Compile(ctx, i, loopback); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(i.Dir, jvm.Classes, filepath.Dir(provider)), 0o755),
		os.WriteFile(filepath.Join(i.Dir, jvm.Classes, provider), []byte("brokermark.NoReplication\n"), 0o644)); err != nil {
		return err
	}
	path := filepath.Join(i.Dir, jvm.Classes) + string(filepath.ListSeparator) + filepath.Join(i.Dir, "lib", "*")
	names, err := i.Run(ctx, provision.Command{Path: "java", Args: []string{"-cp", path, mainClass, "settings"}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(i.Dir, knownNames), []byte(names), 0o644)
}
