//go:build !linux

package sandbox

import "context"

// Detect finds nothing: there is no sandbox of ours on this system yet.
func Detect(context.Context) Support {
	const why = "works on Linux only: there is no sandbox on this system yet"
	return Support{BwrapWhy: why, LandlockWhy: why}
}
