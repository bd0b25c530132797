package results

// Values holds the distinct values of settings by the name of the setting. In {"acks": {"1", "all"}, "linger": {"5"}} acks varies.
type Values map[string]map[string]bool

// Add adds the value of a setting.
func (v Values) Add(name, value string) {
	if v[name] == nil {
		v[name] = map[string]bool{}
	}
	v[name][value] = true
}

// AddAll adds the values of several settings, by their names.
func (v Values) AddAll(settings map[string]string) {
	for name, value := range settings {
		v.Add(name, value)
	}
}

// Vary tells whether a setting has several values.
func (v Values) Vary(name string) bool { return len(v[name]) > 1 }

// Varying lists the settings with several values, sorted.
func (v Values) Varying() []string {
	var names []string
	for _, name := range sortedKeys(v) {
		if v.Vary(name) {
			names = append(names, name)
		}
	}
	return names
}
