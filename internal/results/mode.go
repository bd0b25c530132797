package results

// ClientMode is how the client library was used: "stock", "tuned", or "" if the record doesn't say, as older and imported ones.
func ClientMode(r Record) string {
	mode, _ := r.Settings.Client["mode"].(string)
	return mode
}
