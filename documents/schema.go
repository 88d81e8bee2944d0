package documents

import _ "embed"

// Schema is a document as JSON, as the API gives it, exports hold it in each line and a
// folder gets it: a JSON Schema of draft 2020-12. It is made of the types and of the
// comments on their fields; title is the business term of EN 16931. It lets pass what it
// does not name: a later release may say more.
//
//go:embed schema.json
var Schema []byte
