package judge

import (
	"strings"
	"testing"

	"outreach.example/conformance/internal/client"
)

// What stands in the place of a 429 comes with a line that looks for it beyond the limit.
func TestReplayExcess(t *testing.T) {
	key := client.Key{Name: "limited", Token: "T0ken.0f-the~limited_key"}
	line := ReplayExcess(client.Exchange{Request: client.Request{Path: "/api/v2/lead-labels", Key: key}, Status: 503})
	for _, has := range []string{"for n in 1 2 3", `"$OUTREACH_URL/api/v2/lead-labels#[1-50]"`, "HTTP/[0-9.]* 503", "$OUTREACH_KEY_LIMITED"} {
		if !strings.Contains(line, has) {
			t.Errorf("%q lacks %q", line, has)
		}
	}
}

// A finding about a rate limit comes with a line that meets the limit; any other
// with the request alone.
func TestReplay(t *testing.T) {
	key := client.Key{Name: "limited", Token: "T0ken.0f-the~limited_key"}
	read := client.Request{Path: "/api/v2/lead-labels", Key: key}
	create := client.Request{Method: "POST", Path: "/api/v2/inbox-placement-tests", Body: []byte(`{"name":"it's"}`), Key: key}
	const drives, lists = "for n in 1 2 3", `"$OUTREACH_URL/api/v2/lead-lists?limit=1#[1-50]"`
	for name, tc := range map[string]struct {
		requirement string
		ex          client.Exchange
		has, lacks  []string
	}{
		"not of a limit":         {"STATUS-200", client.Exchange{Request: read, Status: 503}, nil, []string{drives}},
		"a body of 429":          {"ERROR-429-MESSAGE", client.Exchange{Request: read, Status: 429}, []string{drives, `"$OUTREACH_URL/api/v2/lead-labels#[1-50]"`}, []string{lists, "sleep"}},
		"a body of a write":      {"ERROR-429-MESSAGE", client.Exchange{Request: create, Status: 429}, []string{drives, lists, "; curl -i -X POST "}, []string{"sleep", "placement-tests#"}},
		"served beyond a limit":  {"RATE-429", client.Exchange{Request: read, Status: 200}, []string{drives, `"$OUTREACH_URL/api/v2/lead-labels#[1-50]"`}, []string{"sleep"}},
		"refused for ever":       {"RATE-RESUMES", client.Exchange{Request: read, Status: 429}, []string{drives, lists, "; sleep 120; curl -i "}, []string{"lead-labels#"}},
		"refused in another way": {"RATE-RESUMES", client.Exchange{Request: read, Status: 403}, []string{drives, lists, "; sleep 120; curl -i "}, []string{"lead-labels#"}},
	} {
		line := Replay(tc.requirement, tc.ex)
		for _, has := range append(tc.has, "$OUTREACH_KEY_LIMITED") {
			if !strings.Contains(line, has) {
				t.Errorf("%s: %q lacks %q", name, line, has)
			}
		}
		for _, lacks := range append(tc.lacks, key.Token) {
			if strings.Contains(line, lacks) {
				t.Errorf("%s: %q has %q", name, line, lacks)
			}
		}
	}
}
