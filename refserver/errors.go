package refserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is a refusal that the client gets to see.
type apiError struct {
	status  int
	message string
}

func (e *apiError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.status, http.StatusText(e.status), e.message)
}

// body is the error in the form of the specification's section Errors.
func (e *apiError) body() []byte {
	doc, err := json.Marshal(struct {
		StatusCode int    `json:"statusCode"`
		Error      string `json:"error"`
		Message    string `json:"message"`
	}{e.status, http.StatusText(e.status), e.message})
	if err != nil {
		panic(err) // two strings and a number always marshal
	}
	return doc
}

// The errors of the specification's table, with the message texts seen there.
var (
	errUnauthorized    = &apiError{http.StatusUnauthorized, "Missing Authorization header"}
	errPaymentRequired = &apiError{http.StatusPaymentRequired, "Workspace does not have an active paid plan"}
	errNotFound        = &apiError{http.StatusNotFound, "Resource not found"}
	errTooManyRequests = &apiError{http.StatusTooManyRequests, "Rate limit exceeded"}
)

// Errors that the specification does not show.
var (
	errMethodNotAllowed = &apiError{http.StatusMethodNotAllowed, "Method not allowed"}
	errTooLarge         = &apiError{http.StatusRequestEntityTooLarge, fmt.Sprintf("The request body is larger than %d bytes", maxBody)}
	errInternal         = &apiError{http.StatusInternalServerError, "Internal server error"}
)

// invalid is the answer to a request that fails validation.
func invalid(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// forbidden is the answer to a key that may not do what it asks.
func forbidden(format string, args ...any) error {
	return &apiError{http.StatusForbidden, fmt.Sprintf(format, args...)}
}
