package client

import (
	"net/http"
	"testing"
)

func TestAllowedStatuses(t *testing.T) {
	for _, c := range []struct {
		allowed     Allowed
		yes, no     []int
		valid, open bool
		words       string
	}{
		{Only(200), []int{200, 429}, []int{201, 204, 302, 400, 404, 500}, true, false, "200"},
		{Only(200).Or(404, 200), []int{200, 404, 429}, []int{400, 401, 500}, false, false, "200 or 404"},
		{Only(401), []int{401, 429}, []int{200, 400, 403, 500}, false, false, "401"},
		{AnyRefusal(), []int{400, 404, 422, 429, 499}, []int{100, 200, 302, 500, 503}, false, true, "a refusal (4xx)"},
		{AnyRefusal(200), []int{200, 400, 404, 429}, []int{201, 301, 500}, false, true, "200 or a refusal (4xx)"},
	} {
		if !c.allowed.Declared() || c.allowed.Valid() != c.valid || c.allowed.Open() != c.open || c.allowed.String() != c.words {
			t.Errorf("%s: valid %t, open %t", c.allowed, c.allowed.Valid(), c.allowed.Open())
		}
		for _, status := range c.yes {
			if !c.allowed.Status(status) {
				t.Errorf("%s does not allow %d", c.allowed, status)
			}
		}
		for _, status := range c.no {
			if c.allowed.Status(status) {
				t.Errorf("%s allows %d", c.allowed, status)
			}
		}
	}
	if nothing := (Allowed{}); nothing.Declared() || nothing.Status(http.StatusOK) || nothing.Valid() || nothing.Open() {
		t.Error("the zero value says something")
	}
}
