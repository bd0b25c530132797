package cli

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/study"
)

// loginFlags let the clients log in to a broker that they attach to. None of them is a password, which everybody would see who
// lists processes.
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

// addLoginFlags adds loginFlags, which keep their values themselves.
func addLoginFlags(f *pflag.FlagSet) {
	for _, l := range loginFlags {
		f.String(l.name, "", l.doc)
	}
}

// guard sets the options by which a broker demands TLS and a login of its clients.
func (o upOptions) guard(options *provision.Options) error {
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

// loginArguments returns the flags with which a run can use the broker that was started with o, such as " --user me --password-env
// PW".
func (o upOptions) loginArguments(files *provision.TLSFiles) (flags string) {
	if files != nil {
		flags += " --tls " + o.tls + " --ca-file " + files.CA
		if files.Mutual {
			flags += " --cert-file " + files.ClientCert + " --key-file " + files.ClientKey
		}
	}
	if o.user != "" {
		flags += " --user " + o.user + " --password-env " + o.passwordEnv
	}
	return flags
}
