// Package calibration measures reviewers over changes whose faults are known: it reads labelled cases, matches what a
// seat raised to what was planted, and counts precision and recall per seat, lens and model. It is pure: who runs the
// seats and keeps the result is not its business.
package calibration
