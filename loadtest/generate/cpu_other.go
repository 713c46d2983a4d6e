//go:build !unix

package generate

import "time"

// processorTime is not known on this platform.
func processorTime() (time.Duration, bool) { return 0, false }
