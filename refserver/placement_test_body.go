package refserver

import "outreach.example/conformance/fixtures/dataset"

// readPlacementTest reads the body of a create (specification, Inbox placement
// tests, Create). run_immediately is checked and not kept: a run has no effect
// that the API shows. A test starts active and without trouble unless the body
// says otherwise; it is sent to its emails.
func readPlacementTest(body object) dataset.InboxPlacementTest {
	body.boolean("run_immediately", optional)
	test := dataset.InboxPlacementTest{
		Name:             or(body.text("name", required)),
		Type:             or(body.number("type", required, 1, 2)),
		SendingMethod:    or(body.number("sending_method", required, 1, 2)),
		EmailSubject:     or(body.text("email_subject", required)),
		EmailBody:        or(body.text("email_body", required)),
		Emails:           body.texts("emails", required, "an email address", anAddress),
		DeliveryMode:     body.number("delivery_mode", nullable, 1, 2),
		Description:      body.text("description", nullable),
		Schedule:         body.testSchedule("schedule"),
		CampaignID:       body.uuid("campaign_id", nullable),
		TestCode:         body.text("test_code", nullable),
		Tags:             body.texts("tags", nullable, "a UUID", parseUUID),
		TextOnly:         body.boolean("text_only", nullable),
		RecipientsLabels: body.recipientsLabels("recipients_labels"),
		NextRun:          body.timestamp("timestamp_next_run", nullable),
		Automations:      body.automations("automations"),
		Status:           body.number("status", nullable, 1, 2, 3),
		NotSendingStatus: body.oneOf("not_sending_status", nullable, "", "daily_limits_hit", "other"),
	}
	test.Recipients = test.Emails
	if _, given := body.fields["status"]; !given {
		test.Status = new(1)
	}
	if _, given := body.fields["not_sending_status"]; !given {
		test.NotSendingStatus = new("")
	}
	return test
}

// recipientsLabels reads labels in the form of the provider options. Only their
// form is checked: other combinations than the options' are kept as they are.
func (o object) recipientsLabels(name string) []dataset.RecipientsLabel {
	var labels []dataset.RecipientsLabel
	for _, label := range o.subs(name, optional) {
		labels = append(labels, dataset.RecipientsLabel{
			Region:    or(label.text("region", required)),
			SubRegion: or(label.text("sub_region", required)),
			Type:      or(label.text("type", required)),
			ESP:       or(label.text("esp", required)),
		})
	}
	return labels
}

// automations reads free objects.
func (o object) automations(name string) []map[string]any {
	automations := o.subs(name, nullable)
	if automations == nil {
		return nil
	}
	free := make([]map[string]any, 0, len(automations))
	for _, a := range automations {
		free = append(free, a.fields)
	}
	return free
}
