package spec

import (
	"fmt"
	"strings"
)

//go:generate go run generate.go

// ID is the permanent id of a requirement.
type ID string

// On returns the pair of the requirement and the operation.
func (id ID) On(operation string) Pair { return Pair{Requirement: string(id), Operation: operation} }

// Operations returns the operations that the catalogue binds to the requirement.
// It panics if the catalogue has no such requirement.
func (id ID) Operations() []Operation {
	r, ok := FindRequirement(string(id))
	if !ok {
		panic("spec: the catalogue has no requirement " + string(id))
	}
	operations := make([]Operation, 0, len(r.Operations))
	for _, op := range r.Operations {
		operations = append(operations, MustOperation(op))
	}
	return operations
}

// The requirements on single fields of the create body. Each function panics if
// the catalogue has none for the field.

// StateCreate returns the requirement that a created test keeps the field.
func StateCreate(field string) ID { return ofField("STATE-CREATE-", field) }

// StateReadOnly returns the requirement that a body cannot set the field.
func StateReadOnly(field string) ID { return ofField("STATE-READ_ONLY-", field) }

// RequestRequired returns the requirement that a body without the field is refused.
func RequestRequired(field string) ID { return ofField("REQUEST-REQUIRED-", field) }

// RequestInvalid returns the requirement that a body with an invalid field is refused.
func RequestInvalid(field string) ID { return ofField("REQUEST-INVALID-", field) }

func ofField(prefix, field string) ID {
	id := prefix + strings.ToUpper(field)
	if _, ok := FindRequirement(id); !ok {
		panic("spec: the catalogue has no requirement " + id)
	}
	return ID(id)
}

// ErrorBody returns the requirements on the body of an error response of that
// HTTP status (section Errors).
func ErrorBody(status int) []ID {
	var ids []ID
	prefix := fmt.Sprintf("ERROR-%d-", status)
	for _, r := range catalogue {
		if strings.HasPrefix(r.ID, prefix) {
			ids = append(ids, ID(r.ID))
		}
	}
	return ids
}
