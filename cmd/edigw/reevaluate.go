package main

// messagesReEvaluate has refused messages judged again after a change of the
// partner's settings or of the program. Without a key it takes those that were
// judged under older ones.
type messagesReEvaluate struct {
	letterChoice
}

func (c *messagesReEvaluate) Run(a *app) error {
	return c.each(a, "/messages/refused", "/messages/re-evaluate", map[string]any{})
}
