package fleet

// Traffic is what has been posted at a control server.
type Traffic struct{ Messages, Bytes int64 }

// Traffic counts what came in, from both sides.
func (c *Control) Traffic() Traffic {
	v, err := c.server.Varz(nil)
	if err != nil {
		return Traffic{}
	}
	return Traffic{v.InMsgs, v.InBytes}
}
