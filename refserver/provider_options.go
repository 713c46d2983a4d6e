package refserver

import "outreach.example/conformance/fixtures/dataset"

// providerOptions are the email providers that recipients_labels can name. The
// specification refers to them and shows no shape.
var providerOptions = []dataset.RecipientsLabel{
	{Region: "North America", SubRegion: "US", Type: "Professional", ESP: "Google"},
	{Region: "North America", SubRegion: "US", Type: "Professional", ESP: "Outlook"},
	{Region: "North America", SubRegion: "US", Type: "Personal", ESP: "Google"},
	{Region: "North America", SubRegion: "US", Type: "Personal", ESP: "Outlook"},
	{Region: "Europe", SubRegion: "Germany", Type: "Professional", ESP: "Google"},
	{Region: "Europe", SubRegion: "Germany", Type: "Professional", ESP: "Outlook"},
	{Region: "Europe", SubRegion: "Germany", Type: "Personal", ESP: "Google"},
	{Region: "Europe", SubRegion: "Germany", Type: "Personal", ESP: "Outlook"},
}

func listProviderOptions(c *call) error {
	doc, err := render(providerOptions)
	if err != nil {
		return err
	}
	return c.send(doc)
}
