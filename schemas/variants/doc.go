// Package variants makes the values of requests from the OpenAPI document: every kind of
// value that the document allows for a part of a request, and every kind that it rules
// out. A part is a member of a body or a query parameter.
//
// It leaves out what the document cannot know: ids, email addresses and items without a
// shape exist on a target, or do not. The caller knows them.
//
// The package imports schemas and kin-openapi, and nothing else of this module.
package variants
