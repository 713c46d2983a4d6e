package faults

func wireQuirks() []Quirk {
	return []Quirk{
		quirk("wire/chunked", "not mentioned: headers of responses", "framing", "sends chunked bodies without a length",
			when(always, header("Transfer-Encoding", "chunked"))),
	}
}
