package results

// ClientMode is how the client library was used: stock, tuned, or "" in records of before there was a choice and in those
// that this program didn't measure.
func ClientMode(r Record) string {
	mode, _ := r.Settings.Client["mode"].(string)
	return mode
}
