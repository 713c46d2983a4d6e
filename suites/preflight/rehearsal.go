package preflight

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// rehearsalToken begins the token of a key that a rehearsal mints.
const rehearsalToken = "rehearsal-"

// nobodysIDs is how ids begin that runs make up: nothing has them.
const nobodysIDs = "00800000-00"

// refusing lays the refusals of a real server around the stand-in, which serves
// whoever asks for whatever: without them a rehearsal would see answers that no
// run sees, and miss refusals that every run sees.
type refusing struct {
	next http.RoundTripper
	keys map[string]string // state by token
}

func refusals(next http.RoundTripper, keys []profile.Key) refusing {
	states := map[string]string{}
	for _, k := range keys {
		states[k.Token] = k.State
	}
	return refusing{next, states}
}

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	status, err := r.refusal(request)
	if err != nil {
		return nil, err
	}
	if status == 0 {
		return r.next.RoundTrip(request)
	}
	body := fmt.Sprintf(`{"statusCode":%d,"error":%q,"message":"refused in a rehearsal"}`, status, spec.ErrorText[status])
	return &http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)), Request: request,
	}, nil
}

// refusal is the status with which a real server refuses the request; 0 if it
// would not. It reads the request's body and puts it back.
func (r refusing) refusal(request *http.Request) (int, error) {
	token, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	state, known := r.keys[token]
	switch {
	case strings.HasPrefix(token, rehearsalToken):
	case !known || token == "" || state == profile.KeyRevoked:
		return http.StatusUnauthorized, nil
	case state == profile.KeyUnpaid:
		return http.StatusPaymentRequired, nil
	}
	named := request.URL.Path
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return 0, err
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		named += string(body)
	}
	if strings.Contains(named, nobodysIDs) || malformedID(request.Method, request.URL.Path) {
		return http.StatusNotFound, nil
	}
	return 0, nil
}

// malformedID reports whether the path of a request holds an id that is not a UUID.
func malformedID(method, path string) bool {
	op, id, ok := spec.MatchOperation(method, path)
	return ok && op.HasPathID() && uuid.Validate(id) != nil
}
