package migrations

// UpFrom applies files that are not the product's.
var UpFrom = up
