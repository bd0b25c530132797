package driver

// How a driver uses its client library: the values of the client setting mode (decision 042).
const (
	Stock = "stock" // as the library's documentation does
	Tuned = "tuned" // as fast as this driver knows how
)

const modeSetting = "mode"

// ModeSetting is of drivers that have both ways; tuned says, as a clause, where that way leaves the documented one.
func ModeSetting(tuned string) Setting {
	return Setting{
		Scope: ClientScope, Name: modeSetting, Default: Stock, Allowed: []string{Stock, Tuned},
		Doc: "how the client library is used; stock: as its documentation does; tuned: " + tuned,
	}
}

// OneMode is of drivers with one way; why says, as a clause, why there is no other.
func OneMode(mode, why string) Setting {
	other := map[string]string{Stock: Tuned, Tuned: Stock}[mode]
	return Setting{Scope: ClientScope, Name: modeSetting, Default: mode, Allowed: []string{mode}, Elsewhere: []string{other}, Doc: why}
}

// UsesStock reports whether the library is to be used as its documentation does.
func UsesStock(client Values) bool { return client[modeSetting] == Stock }

// TunedOnly is the Setting.Idle of what only the tuned way has.
func TunedOnly(_ Guarantee, client Values) string {
	return If(UsesStock(client), "client.mode is stock")
}
