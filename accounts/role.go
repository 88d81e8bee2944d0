// Package accounts knows who may do what on the operators' side: people with
// their roles, API tokens and the audit log. It owns the tables account, api_token
// and audit_entry.
//
// Who acts is a person; a token only proves which. That is why "never the
// proposer" compares persons: two tokens of one person are not two people.
package accounts

import (
	"fmt"
	"slices"
	"strings"
)

// Role is what a person may do. Each role may do all that those before it may.
// The zero Role may do nothing.
type Role string

// The roles, the least first.
const (
	Viewer   Role = "viewer"   // reads
	Consumer Role = "consumer" // exports documents, and reports what it did with them
	Operator Role = "operator" // reviews drift, replays, proposes decisions
	Approver Role = "approver" // approves what another person proposed
	Admin    Role = "admin"    // partners, retention, tokens
)

// Roles is every role, the least first.
var Roles = []Role{Viewer, Consumer, Operator, Approver, Admin}

// ParseRole reads a role by its name.
func ParseRole(name string) (Role, error) {
	if r := Role(name); slices.Contains(Roles, r) {
		return r, nil
	}
	names := make([]string, len(Roles))
	for i, r := range Roles {
		names[i] = string(r)
	}
	return "", fmt.Errorf("role %q is not one of %s", name, strings.Join(names, ", "))
}

// AtLeast reports whether r may do what least may. Nothing is at least a role
// that does not exist.
func (r Role) AtLeast(least Role) bool {
	have, need := slices.Index(Roles, r), slices.Index(Roles, least)
	return need >= 0 && have >= need
}
