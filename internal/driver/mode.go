package driver

// How a driver uses its client library: the values of the client setting mode (decision 042).
const (
	Stock = "stock" // as the library's documentation shows
	Tuned = "tuned" // as fast as this driver can make it
)

const modeSetting = "mode"

// ModeSetting is the setting of drivers that have both modes; tuned says, as a clause, how that mode differs from the documented use.
func ModeSetting(tuned string) Setting {
	return Setting{
		Scope: ClientScope, Name: modeSetting, Default: Stock, Allowed: []string{Stock, Tuned},
		Doc: "how the client library is used; stock: as its documentation does; tuned: " + tuned,
	}
}

// OneMode is the setting of drivers with one mode; why says, as a clause, why there is no other.
func OneMode(mode, why string) Setting {
	other := map[string]string{Stock: Tuned, Tuned: Stock}[mode]
	return Setting{Scope: ClientScope, Name: modeSetting, Default: mode, Allowed: []string{mode}, Elsewhere: []string{other}, Doc: why}
}

// UsesStock reports whether to use the library as its documentation shows.
func UsesStock(client Values) bool { return client[modeSetting] == Stock }

// TunedOnly is the Setting.Idle of settings that only the tuned mode has.
func TunedOnly(_ Guarantee, client Values) string {
	return If(UsesStock(client), "client.mode is stock")
}
