package spec

// NeedsState reports whether a check needs a target that keeps rows and changes. A mock
// that answers with examples keeps none. It may still validate requests.
func (r Requirement) NeedsState() bool {
	switch r.Profile {
	case ProfileRead, ProfileIsolation, ProfileAdmin:
		return true
	case ProfileWrite:
		return r.Group != GroupRequests
	}
	return false
}
