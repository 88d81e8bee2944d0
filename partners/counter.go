package partners

// Counter counts every change of the configuration that this directory has
// loaded; 0 before the first load.
func (d *Directory) Counter() int64 {
	if v := d.current.Load(); v != nil {
		return v.counter
	}
	return 0
}
