package study

import "strings"

// login checks what lets the clients in. It concerns attached brokers only: one that is started here comes with
// certificates of its own.
func (v *validator) login() {
	s := v.spec
	given := false
	for _, f := range []struct{ path, text string }{
		{"user", s.User},
		{"passwordEnv", s.PasswordEnv},
		{"passwordFile", s.PasswordFile},
		{"caFile", s.CAFile},
		{"certFile", s.CertFile},
		{"keyFile", s.KeyFile},
	} {
		if f.text != "" && len(s.Attach) == 0 {
			v.fail(f.path, "only with attach; a broker that is started here needs none")
			given = true
		}
	}
	if given {
		return
	}
	v.password()
	switch {
	case s.CAFile != "" && s.TLS == TLSOff:
		v.fail("caFile", "tls is off; allowed with tls: on or mutual")
	case (s.CertFile != "" || s.KeyFile != "") && s.TLS != TLSMutual:
		v.fail(either(s.CertFile != "", "certFile", "keyFile"), "tls is %s; allowed with tls: mutual", s.TLS)
	case len(s.Attach) > 0 && s.TLS == TLSMutual && (s.CertFile == "" || s.KeyFile == ""):
		v.fail(either(s.CertFile == "", "certFile", "keyFile"), "missing; an attached broker with tls: mutual needs certFile and keyFile")
	}
}

func (v *validator) password() {
	s := v.spec
	switch {
	case s.PasswordEnv != "" && s.PasswordFile != "":
		v.fail("passwordFile", "passwordEnv is given, too; allowed: one of them")
	case s.PasswordEnv+s.PasswordFile != "" && s.User == "":
		v.fail(either(s.PasswordEnv != "", "passwordEnv", "passwordFile"), "no user; name one with user")
	case s.User != "" && s.PasswordEnv+s.PasswordFile == "":
		v.fail("user", "no password; passwordEnv names an environment variable that holds it, passwordFile a file")
	case strings.ContainsAny(s.PasswordEnv, "= \t"):
		v.fail("passwordEnv", "%q is not the name of an environment variable", s.PasswordEnv)
	}
}

// either is a where yes holds, and b otherwise.
func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
