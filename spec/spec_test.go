package spec

import (
	"regexp"
	"strings"
	"testing"
)

// label matches a valid Ginkgo label that is also one shell word.
var label = regexp.MustCompile(`^[A-Z0-9][A-Z0-9_.-]*$`)

func TestRequirementsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Requirements() {
		if seen[r.ID] {
			t.Errorf("%s stands twice", r.ID)
		}
		seen[r.ID] = true
		if !label.MatchString(r.ID) {
			t.Errorf("%s: an id is upper case letters, digits, _ . and -", r.ID)
		}
		if r.Level != Stated && r.Level != Derived {
			t.Errorf("%s: level %q", r.ID, r.Level)
		}
		if (r.Level == Derived) != (r.Reasoning != "") {
			t.Errorf("%s: a derived requirement gives its reasoning, a stated one needs none", r.ID)
		}
		for what, text := range map[string]string{"statement": r.Statement, "section": r.Section, "method": r.Method,
			"group": string(r.Group), "profile": string(r.Profile)} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s has no %s", r.ID, what)
			}
		}
		if r.Profile == ProfileFull {
			t.Errorf("%s: full is no requirement's own profile", r.ID)
		}
		if len(r.Operations) == 0 {
			t.Errorf("%s binds no operation", r.ID)
		}
		bound := map[string]bool{}
		for _, id := range r.Operations {
			if _, ok := FindOperation(id); !ok || bound[id] {
				t.Errorf("%s binds %q: unknown or twice", r.ID, id)
			}
			bound[id] = true
		}
	}
}

func TestEveryGroupAndProfileIsUsed(t *testing.T) {
	groups, profiles := map[Group]bool{}, map[Profile]bool{ProfileFull: true}
	for _, r := range Requirements() {
		groups[r.Group], profiles[r.Profile] = true, true
	}
	if len(groups) != len(Groups()) || len(profiles) != len(Profiles()) {
		t.Errorf("groups in use %v of %v, profiles in use %v of %v", groups, Groups(), profiles, Profiles())
	}
}

func TestOpenPointsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range OpenPoints() {
		if seen[s.ID] || !label.MatchString(s.ID) || s.Statement == "" || s.Section == "" {
			t.Errorf("open point %+v: twice, or something is missing", s)
		}
		seen[s.ID] = true
		if _, clash := FindRequirement(s.ID); clash {
			t.Errorf("%s is a requirement too", s.ID)
		}
		for _, id := range s.Operations {
			if _, ok := FindOperation(id); !ok {
				t.Errorf("%s concerns the unknown operation %s", s.ID, id)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d openPoints; the specification says “not shown” some thirty times", len(seen))
	}
}

func TestOperationsMatchTheirScopes(t *testing.T) {
	if n := len(Operations()); n != 18 {
		t.Fatalf("%d operations, the specification gives 18 a shape", n)
	}
	actions := map[string]string{"GET": "read", "DELETE": "delete"}
	for _, op := range Operations() {
		if op.ID == MoveAccounts {
			if op.Scope.Alternatives() != nil {
				t.Error("the specification shows no scopes for moving accounts")
			}
			continue
		}
		if want, ok := actions[op.Method]; ok && op.Scope.Action != want {
			t.Errorf("%s: a %s has action %s, not %s", op.ID, op.Method, want, op.Scope.Action)
		}
		if len(op.Scope.Alternatives()) != 4 {
			t.Errorf("%s: four scopes serve, got %v", op.ID, op.Scope.Alternatives())
		}
	}
}

func TestPairsAgreeWithHas(t *testing.T) {
	for _, p := range Pairs() {
		if !Has(p) {
			t.Fatalf("Has(%v) is false", p)
		}
	}
	if Has(Pair{"PAGE-ORDER", ListDFYOrders}) {
		t.Error("orders show no id: their order by id cannot be judged")
	}
}

func TestUpperSnake(t *testing.T) {
	for in, want := range map[string]string{"Lead": "LEAD", "InboxPlacementTest": "INBOX_PLACEMENT_TEST", "DFYEmailAccountOrder": "DFY_EMAIL_ACCOUNT_ORDER"} {
		if got := upperSnake(in); got != want {
			t.Errorf("upperSnake(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestURLPathEscapesTheID(t *testing.T) {
	get, list := MustOperation(GetPlacementTest), MustOperation(ListPlacementTests)
	for _, c := range []struct {
		op       Operation
		id, want string
	}{
		{get, "0198", "/api/v2/inbox-placement-tests/0198"},
		{get, "a/b?c d", "/api/v2/inbox-placement-tests/a%2Fb%3Fc%20d"},
		{get, "{id}", "/api/v2/inbox-placement-tests/%7Bid%7D"},
		{list, "0198", "/api/v2/inbox-placement-tests"},
	} {
		if got := c.op.URLPath(c.id); got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.op.ID, c.id, got, c.want)
		}
	}
}

func TestMatchOperation(t *testing.T) {
	for _, op := range Operations() {
		id := ""
		if op.HasPathID() {
			id = "a%b"
		}
		path := strings.Replace(op.Path, "{id}", id, 1)
		if got, gotID, ok := MatchOperation(op.Method, path); !ok || got.ID != op.ID || gotID != id {
			t.Errorf("%s %s: %q, id %q, %v", op.Method, path, got.ID, gotID, ok)
		}
	}
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/api/v2/campaigns//variables", AddCampaignVariables}, // an empty id
		{"POST", "/api/v2/campaigns/variables", ""},                    // no id
		{"POST", "/api/v2/campaigns/a/b/variables", ""},
		{"PUT", "/api/v2/lead-lists", ""},
		{"GET", "/api/v2/lead-lists/", ""},
		{"GET", OptionsPath, ""},
		{"GET", "", ""},
	} {
		if got, id, ok := MatchOperation(c.method, c.path); got.ID != c.want || id != "" || ok != (c.want != "") {
			t.Errorf("%s %s: %q, id %q, %v; want %q", c.method, c.path, got.ID, id, ok, c.want)
		}
	}
}
