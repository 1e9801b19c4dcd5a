//go:build !race

package activities

const raceDetector = false
