package preflight

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Which operations a target serves. An unimplemented operation answers 404, 405 or
// 501 to every request. A served one may answer 404 as well, for an unknown row. The
// search never costs an honest server an operation: if it cannot tell, the operation
// counts as served.
//
// No request of the search can change a row: a request that is not a GET lacks the key,
// or names an unknown id, or has an invalid body.

// A served is what the search found out.
type served struct {
	absent map[string]int  // operations that the target does not serve, with the status that it returns, or 0
	unsure map[string]bool // operations that may or may not be served
}

// doubts returns the operations that may or may not be served, in the order of the catalogue.
func (s served) doubts() []string {
	return slices.DeleteFunc(spec.OperationIDs(), func(id string) bool { return !s.unsure[id] })
}

// absences lists the absent operations by status, such as "leads.move (404)".
func (s served) absences() string {
	by := map[int][]string{}
	for _, id := range spec.OperationIDs() {
		by[s.absent[id]] = append(by[s.absent[id]], id)
	}
	delete(by, 0)
	var all []string
	for _, status := range slices.Sorted(maps.Keys(by)) {
		all = append(all, fmt.Sprintf("%s (%d)", strings.Join(by[status], ", "), status))
	}
	return strings.Join(all, "; ")
}

// findServed searches the given operations with the key, which must not be refused.
func (a *asker) findServed(operations []spec.Operation, key profile.Key) served {
	found := served{map[string]int{}, map[string]bool{}}
	guarded := sync.OnceValue(a.asksForKeys)
	var mu sync.Mutex
	var searching sync.WaitGroup
	for _, op := range operations {
		searching.Go(func() {
			status, unsure := a.lacks(op, key, guarded)
			mu.Lock()
			defer mu.Unlock()
			found.absent[op.ID], found.unsure[op.ID] = status, unsure
		})
	}
	searching.Wait()
	return found
}

// lacks returns the status that shows that the target does not serve the operation; 0 if it
// does, or may. guarded reports whether the target asks for keys.
func (a *asker) lacks(op spec.Operation, key profile.Key, guarded func() bool) (status int, unsure bool) {
	p := harmless(op)
	certain := op.Answer != spec.One // a list never answers 404 to a valid key
	keyed := a.sign(p, &key)
	if op.ID == spec.GetPlacementTest && a.profile.Implements(spec.ListPlacementTests) {
		listed := ids(a.list(spec.MustOperation(spec.ListPlacementTests), key, nil).Rows)
		for _, id := range listed[:min(2, len(listed))] { // somebody may have deleted the first
			if keyed.status != http.StatusNotFound {
				break
			}
			p.path, certain = op.URLPath(id), true
			keyed = a.sign(p, &key)
		}
	}
	switch keyed.status {
	case 0:
		return 0, true
	case http.StatusOK:
		return 0, false
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return keyed.status, false
	}
	unknown := p
	unknown.path = "/api/v2/conformance-" + uuid.NewString() // no server knows it
	alike := keyed.same(a.sign(unknown, &key))
	if alike && a.allows(p, key) {
		return 0, false
	}
	var bare sign
	if guarded() { // otherwise a server might make a row of it
		bare = a.sign(p, nil)
	}
	openly := spec.MeansUnserved(bare.status) // an operation that is served answers 401
	switch {
	case !alike && !(openly && keyed.status == http.StatusNotFound):
		return 0, false
	case alike && openly:
		return bare.status, false
	case keyed.status == http.StatusNotFound && (certain || alike && (keyed.namesRoute || bare.documented && !keyed.documented)):
		return keyed.status, false
	}
	return 0, true
}

// asksForKeys reports whether the target answers 401 to a request without a key for a
// list that it serves.
func (a *asker) asksForKeys() bool {
	for _, op := range spec.Operations() {
		if op.Answer == spec.One || !a.profile.Implements(op.ID) {
			continue
		}
		if bare := a.sign(probe{op: op, path: op.Path}, nil); !spec.MeansUnserved(bare.status) {
			return bare.status == http.StatusUnauthorized
		}
	}
	return false
}

// A probe is a request of the search.
type probe struct {
	op   spec.Operation
	path string
	// body is sent with the key, bareBody without.
	body, bareBody []byte
}

// harmless returns a probe of the operation that cannot change a row. Half a JSON
// document does not change one on a server without validation either. Without the key
// whole documents are sent, because some servers parse bodies before they look for the
// route.
func harmless(op spec.Operation) probe {
	p := probe{op: op, path: op.URLPath(unusedID())}
	if op.Method == http.MethodPost {
		p.body = []byte(`{"id":`)
		p.bareBody = fmt.Appendf(nil, `{"id":%[1]q,"subsequence_id":%[1]q,"emails":[],"source_workspace_id":%[1]q,"destination_workspace_id":%[1]q,"variables":[]}`, unusedID())
	}
	return p
}

func unusedID() string { return fixtures.UnusedID(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))) }

// A sign is what distinguishes two responses.
type sign struct {
	status     int // 0: no response
	media      string
	text       string // the body or its message, without the path of the request and ids
	documented bool   // an error body as the specification shows it
	namesRoute bool   // the message names the method and the path of the request
}

func (s sign) same(other sign) bool {
	return s.status == other.status && s.media == other.media && s.text == other.text
}

// sign sends the probe and returns the sign of its response. A nil key sends none.
func (a *asker) sign(p probe, key *profile.Key) sign {
	request := client.Request{Operation: p.op.ID, Method: p.op.Method, Path: p.path, Body: p.bareBody}
	if key != nil {
		request.Key, request.Body = key.ForClient(), p.body
	}
	if len(request.Body) > 0 {
		// A server that leaves the body unread would take it for the next request.
		request.Header = http.Header{"Connection": {"close"}}
	}
	ex := a.api.Do(a.ctx, request)
	if ex.Err != nil {
		return sign{}
	}
	return signOf(p, ex)
}

// allows reports whether the target lists the operation's method in its response to
// OPTIONS, which is a safe method.
func (a *asker) allows(p probe, key profile.Key) bool {
	ex := a.api.Do(a.ctx, client.Request{Operation: p.op.ID, Method: http.MethodOptions, Path: p.path,
		Key: key.ForClient()})
	if ex.Err != nil {
		return false
	}
	for _, line := range ex.Header.Values("Allow") {
		for method := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(method), p.op.Method) {
				return true
			}
		}
	}
	return false
}

// signOf returns the sign of a response. It reads only the beginning of a long body.
func signOf(p probe, ex client.Exchange) sign {
	const most = 4 << 10
	s := sign{status: ex.Status}
	s.media, _, _ = mime.ParseMediaType(ex.Header.Get("Content-Type"))
	message := string(ex.Body[:min(len(ex.Body), most)])
	if decoded, err := schemas.Decode(ex.Body); err == nil {
		if body, ok := decoded.(map[string]any); ok {
			members := slices.Sorted(maps.Keys(body))
			s.documented = s.media == "application/json" && slices.Equal(members, []string{"error", "message", "statusCode"})
			message = strings.Join(append(members, fmt.Sprint(body["error"]), fmt.Sprint(body["message"])), "\n")
		}
	}
	s.namesRoute = namesRoute(message, p)
	s.text = withoutNames(message, p.path)
	return s
}

// namesRoute reports whether an error message is that of a router, such as "Cannot
// DELETE /api/v2/subsequences/1".
func namesRoute(message string, p probe) bool {
	return strings.Contains(message, p.op.Method) && strings.Contains(message, belowAPI(p.path))
}

// belowAPI returns the path without /api/v2, as routers that are mounted there show it.
func belowAPI(path string) string { return strings.TrimPrefix(path, "/api/v2") }

var (
	uuids   = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	numbers = regexp.MustCompile(`[0-9a-fA-F]*[0-9][0-9a-fA-F:.TZ-]*`) // also times and hexadecimal ids
)

// withoutNames replaces the path, ids, numbers and times in a message.
func withoutNames(message, path string) string {
	message = strings.NewReplacer(path, "PATH", belowAPI(path), "PATH").Replace(message)
	return numbers.ReplaceAllString(uuids.ReplaceAllString(message, "ID"), "N")
}
