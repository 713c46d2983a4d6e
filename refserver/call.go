package refserver

import (
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/refserver/limiter"
)

// call is one request on its way to an operation, and what is known of it so far.
type call struct {
	server *Server
	world  *world
	w      http.ResponseWriter
	r      *http.Request
	trace  *trace

	key *apiKey
	ws  *workspace // the key's
	op  *operation
	id  string // as it stands in the path
}

// apiKey is who asks.
type apiKey struct {
	name    string
	role    string // of its workspace
	scopes  []string
	revoked bool
}

// may reports whether the key has one of the scopes.
func (k *apiKey) may(alternatives []string) bool {
	for _, scope := range alternatives {
		if slices.Contains(k.scopes, scope) {
			return true
		}
	}
	return false
}

// handle checks the request in the order of the package comment and serves it.
func (c *call) handle() error {
	if err := c.authenticate(); err != nil {
		return err
	}
	found, id := c.server.router.find(strings.TrimPrefix(c.r.URL.Path, BasePath))
	if c.op = found.of(c.r.Method); c.op != nil {
		c.id, c.trace.operation = id, c.op.id
	}
	if err := c.limit(); err != nil {
		return err
	}
	if !c.ws.paid {
		return errPaymentRequired
	}
	if found == nil {
		return errNotFound
	}
	if c.op == nil {
		c.w.Header().Set("Allow", found.allow())
		return errMethodNotAllowed
	}
	if !c.key.may(c.op.scopes) {
		return forbidden("The API key needs one of the scopes %s", strings.Join(c.op.scopes, ", "))
	}
	if c.op.byAdmin && !c.ws.isAdmin {
		return forbidden("The API key must belong to an admin workspace")
	}
	return c.op.serve(c)
}

// authenticate finds the key of the Authorization header. The scheme's name is
// case-insensitive (RFC 9110, section 11.1); two headers are ambiguous, so invalid.
func (c *call) authenticate() error {
	headers := c.r.Header["Authorization"]
	if len(headers) != 1 {
		return errUnauthorized
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	key := c.server.keys[strings.TrimLeft(token, " ")]
	if !strings.EqualFold(scheme, "Bearer") || key == nil || key.revoked {
		return errUnauthorized
	}
	c.key, c.ws, c.trace.key = key, c.world.byRole[key.role], key.name
	return nil
}

// limit asks the workspace's rate limiter.
func (c *call) limit() error {
	group := c.world.limiters[c.key.role]
	if group == nil {
		return nil
	}
	config := group.Config()
	decision := group.Decide(c.member(config.Scope), c.server.options.Clock())
	header := c.w.Header()
	if config.Headers {
		header.Set("RateLimit-Limit", strconv.Itoa(decision.Limit))
		header.Set("RateLimit-Remaining", strconv.Itoa(decision.Remaining))
		header.Set("RateLimit-Reset", seconds(decision.Reset))
	}
	if decision.OK {
		return nil
	}
	if !config.NoRetryAfter {
		header.Set("Retry-After", seconds(decision.RetryAfter))
	}
	return errTooManyRequests
}

// member names the limiter that the call belongs to within its workspace.
func (c *call) member(scope limiter.Scope) string {
	switch scope {
	case limiter.PerKey:
		return c.key.name
	case limiter.PerAddress:
		host, _, err := net.SplitHostPort(c.r.RemoteAddr)
		if err != nil {
			return c.r.RemoteAddr
		}
		return host
	case limiter.PerOperation:
		return c.trace.operation
	default:
		return ""
	}
}

// seconds rounds up, so that a client that waits this long has waited enough.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// uuid returns the id in the path.
func (c *call) uuid() (string, error) {
	id, ok := parseUUID(c.id)
	if !ok {
		return "", invalid("params/id must be a UUID")
	}
	return id, nil
}
