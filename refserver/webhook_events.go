package refserver

import (
	"encoding/json"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
	"outreach.example/conformance/refserver/webhook"
)

type eventAttrs struct {
	success          bool
	date, url, email string
}

func eventRow(r dataset.WebhookEvent) (store.Row[eventAttrs], error) {
	return rowOf(r.ID, r, eventAttrs{r.Success, r.CreatedDate, r.WebhookURL, r.LeadEmail})
}

// webhookEvents can be narrowed by success, to an inclusive window of days, and
// to one webhook URL or lead email, which must match exactly.
var webhookEvents = listing[eventAttrs]{
	rows:   func(ws *workspace) *store.List[eventAttrs] { return ws.events },
	cursor: byID[eventAttrs](),
	filter: func(q *query) func(*eventAttrs) bool {
		success, given := q.boolean("success")
		from, to, search := q.date("from"), q.date("to"), q.text("search")
		if !given && from == "" && to == "" && search == "" {
			return nil
		}
		return func(a *eventAttrs) bool {
			return (!given || a.success == success) && a.date >= from && (to == "" || a.date <= to) &&
				(search == "" || a.url == search || a.email == search)
		}
	},
}

// notify tells the subscriber, if there is one, what happened to a resource of
// the key's workspace. Each attempt becomes a row of its webhook events.
func (c *call) notify(event string, resource []byte, leadEmail string) {
	sender := c.server.webhooks
	if sender == nil {
		return
	}
	payload := map[string]any{
		"event_type": event,
		"timestamp":  stamp(c.server.now()),
		"workspace":  c.ws.id,
		"resource":   json.RawMessage(resource),
	}
	if leadEmail != "" {
		payload["lead_email"] = leadEmail
	}
	body, err := render(payload)
	if err != nil {
		c.server.options.Logger.Error("webhook event not sent", "event", event, "error", err)
		return
	}
	group, _ := c.server.ids.next()
	log := c.server.eventLog(c.ws, dataset.WebhookEvent{
		OrganizationID: c.ws.id, RetryGroupID: group, WebhookURL: sender.URL(), Payload: payload, LeadEmail: leadEmail,
	})
	sender.Send(webhook.Event{Payload: body, Log: log})
}

// eventLog keeps the attempts of one event as rows of the workspace. Rows are
// stamped when the attempt has ended.
func (s *Server) eventLog(ws *workspace, event dataset.WebhookEvent) webhook.Log {
	rows := map[*webhook.Attempt]dataset.WebhookEvent{}
	return func(a *webhook.Attempt) {
		row, amended := rows[a]
		if !amended {
			id, at := s.ids.next()
			row = event
			row.ID, row.Created, row.CreatedDate = id, stamp(at), at.Format(dateForm)
			if a.WillRetry {
				row.NextRetry = new(stamp(at.Add(a.RetryIn)))
			}
			rows[a] = row
		}
		describe(&row, a)
		doc, err := eventRow(row)
		if err != nil {
			s.options.Logger.Error("webhook event not recorded", "id", row.ID, "error", err)
			return
		}
		if !amended {
			ws.events.Insert(doc)
			return
		}
		_, err = ws.events.Update(row.ID, func(store.Row[eventAttrs]) (store.Row[eventAttrs], error) { return doc, nil })
		if err != nil {
			s.options.Logger.Error("webhook event not amended", "id", row.ID, "error", err)
		}
	}
}

// describe writes what is known of an attempt into its row (specification,
// section Events).
func describe(row *dataset.WebhookEvent, a *webhook.Attempt) {
	row.Success, row.RetryCount, row.WillRetry = a.Success, a.Retry, a.WillRetry
	if !a.WillRetry {
		row.NextRetry = nil
	}
	if a.StatusCode != 0 {
		row.StatusCode, row.ResponseTimeMS = new(a.StatusCode), new(int(a.Elapsed.Milliseconds()))
	}
	if !a.Success {
		row.ErrorMessage, row.RetrySuccessful = new(a.Error), new(a.RetrySuccessful)
	}
}
