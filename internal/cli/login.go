package cli

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/study"
)

// loginFlags let the clients in where a broker is attached to. None of them is a password: that would be seen by
// everybody who lists processes.
var loginFlags = []axisFlag{
	{"user", "user", "with --attach: user to connect as"},
	{"password-env", "passwordEnv", "with --attach: environment `variable` that holds the password"},
	{"password-file", "passwordFile", "with --attach: `file` whose first line is the password"},
	{"ca-file", "caFile", "with --attach: authorities to trust, a PEM `file` (default: the system's)"},
	{"cert-file", "certFile", "with --attach and --tls mutual: the client's certificate, a PEM `file`"},
	{"key-file", "keyFile", "with --attach and --tls mutual: its key, a PEM `file`"},
}

// openSecrets refuses arguments with a password or a token in them, whatever they are for.
func openSecrets(args []string) error {
	for i, arg := range args {
		if i > 0 && args[i-1] == "--attach" { // its value has no name of its own
			arg = "--attach=" + arg
		}
		if secret.In(arg) {
			return hinted(badInput("argument %q holds a secret, which everybody sees who lists the processes of this machine", secret.Redact(arg)),
				"a store's password comes from PGPASSWORD or ~/.pgpass, a broker's from --user with --password-env, or with --password-file")
		}
	}
	return nil
}

func addLoginFlags(f *pflag.FlagSet) map[string]*string {
	into := map[string]*string{}
	for _, l := range loginFlags {
		into[l.name] = f.String(l.name, "", l.doc)
	}
	return into
}

// guarded puts what `broker up` was asked to demand of clients into the options.
func (o upOptions) guarded(options *provision.Options) error {
	switch o.tls {
	case study.TLSOff:
	case study.TLSOn, study.TLSMutual:
		options.TLS, options.Mutual = true, o.tls == study.TLSMutual
	default:
		return badInput("--tls %s: unknown; allowed: off, on, mutual", o.tls)
	}
	if o.user == "" && o.passwordEnv == "" {
		return nil
	}
	password := os.Getenv(o.passwordEnv)
	switch {
	case o.user == "":
		return badInput("--password-env %s: no user; name one with --user", o.passwordEnv)
	case o.passwordEnv == "":
		return badInput("--user %s: no password; --password-env names an environment variable that holds it", o.user)
	case password == "":
		return badInput("--password-env %s: there is no such environment variable, or it is empty", o.passwordEnv)
	}
	options.Login = &provision.Login{User: o.user, Password: password}
	return nil
}

// leave are the flags by which a run is let in by what was started with o.
func (o upOptions) leave(files *provision.TLSFiles) string {
	var flags []string
	if files != nil {
		flags = append(flags, "--tls", o.tls, "--ca-file", files.CA)
		if files.Mutual {
			flags = append(flags, "--cert-file", files.ClientCert, "--key-file", files.ClientKey)
		}
	}
	if o.user != "" {
		flags = append(flags, "--user", o.user, "--password-env", o.passwordEnv)
	}
	if len(flags) == 0 {
		return ""
	}
	return " " + strings.Join(flags, " ")
}
