//go:build !race

package loop_test

// raceDetector says that everything takes twenty times as long.
const raceDetector = false
