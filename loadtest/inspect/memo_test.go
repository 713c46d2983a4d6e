package inspect

import (
	"fmt"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

func TestTheMemoTellsQuestionsApart(t *testing.T) {
	g := NewWithT(t)
	asked := answering(400, `{"statusCode":400,"error":"Bad Request","message":"no"}`)
	asked.Asked.Allowed = client.Allowed{} // it may be refused
	status := answering(500, emptyPage)
	contentType := answering(200, emptyPage)
	contentType.Header = http.Header{"Content-Type": {"text/plain"}}
	operation := answering(200, emptyPage)
	operation.Asked.Operation = spec.MustOperation(spec.ListLeadLabels)
	owner := answering(200, emptyPage)
	owner.Asked.Owner = "0198b3c0-0000-7000-8000-0000000000aa"
	open := answering(200, emptyPage)
	open.Asked.Allowed = client.AnyRefusal(http.StatusOK)
	r := inspected(newInspector(t, Options{}), asked,
		answering(400, `{"statusCode":400,"error":"Bad Request","message":"no"}`), answering(200, emptyPage), status, contentType, operation, owner, open)
	g.Expect(r.Judged).To(BeEquivalentTo(8))
	g.Expect(r.Known).To(BeZero())
	g.Expect(failed(r)["STATUS-200"].ViolationCount).To(Equal(2))
	g.Expect(failed(r)["CONTENT-TYPE"].ViolationCount).To(Equal(1))
}

func TestTheMemoIsBounded(t *testing.T) {
	g := NewWithT(t)
	in := newInspector(t, Options{effort: 1, queue: 10 * remembered, queueBytes: 1 << 30})
	for i := range remembered + 100 {
		in.Take(answering(500, fmt.Sprint(i)))
		in.Take(answering(500, fmt.Sprint(i)))
	}
	in.Close()
	g.Expect(len(in.memo.proofs)).To(Equal(remembered))
	r := in.Result()
	g.Expect(r.Judged + r.Known + r.Skipped).To(BeEquivalentTo(2 * (remembered + 100)))
	g.Expect(failed(r)["STATUS-200"].ViolationCount).To(BeEquivalentTo(r.Judged+r.Known), "what made way is counted too")
}
