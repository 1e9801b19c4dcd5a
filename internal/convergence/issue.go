package convergence

import (
	"fmt"
	"strings"
)

// Codes of the problems that Compile and ResolvePlan report. They are part of
// the form's interface.
const (
	CodeInvalidJSON         = "INVALID_JSON_VALUE"
	CodeInvalidDefinition   = "INVALID_DEFINITION"
	CodeInvalidID           = "INVALID_ID"
	CodeInvalidVersion      = "INVALID_VERSION"
	CodeDuplicateNode       = "DUPLICATE_NODE_ID"
	CodeDuplicateEdge       = "DUPLICATE_EDGE_ID"
	CodeUnknownSource       = "UNKNOWN_SOURCE_NODE"
	CodeUnknownTarget       = "UNKNOWN_TARGET_NODE"
	CodeInvalidRole         = "INVALID_ROLE"
	CodeConflictingLane     = "CONFLICTING_LANE"
	CodeInvalidEvidence     = "INVALID_EVIDENCE_PATHS"
	CodeRoleCount           = "ROLE_COUNT"
	CodeSelfReviewLane      = "SELF_REVIEW_LANE"
	CodeInvalidLimit        = "INVALID_LIMIT"
	CodeInvalidQuorum       = "INVALID_QUORUM"
	CodeInvalidDiversity    = "INVALID_DIVERSITY"
	CodeInvalidSkippable    = "INVALID_SKIPPABLE"
	CodeUnknownSeat         = "UNKNOWN_SEAT"
	CodeInvalidShape        = "INVALID_SHAPE"
	CodeMissingField        = "MISSING_FIELD"
	CodeInvalidText         = "INVALID_TEXT"
	CodeDuplicateID         = "DUPLICATE_ID"
	CodeDuplicateSubst      = "DUPLICATE_SUBSTITUTION"
	CodeInvalidBound        = "INVALID_BOUND"
	CodeInvalidEvent        = "INVALID_EVENT"
	CodeInvalidDigest       = "INVALID_DIGEST"
	CodePackageNotAdmitted  = "PACKAGE_NOT_ADMITTED"
	CodeInvalidLane         = "INVALID_LANE_RESOLUTION"
	CodeUnknownSubstitution = "UNKNOWN_SUBSTITUTION"
	CodePermission          = "PERMISSION_NOT_ADMITTED"
	CodeDuplicatePermission = "DUPLICATE_PERMISSION"
)

// Codes that only the extensions of conclave/v1 can cause.
const (
	CodeInvalidDiscipline    = "INVALID_DISCIPLINE"
	CodeInvalidReviewWhen    = "INVALID_REVIEW_WHEN"
	CodeInvalidFlag          = "INVALID_FLAG"
	CodeNoVotingSeat         = "NO_VOTING_SEAT"
	CodeUnreachableQuorum    = "UNREACHABLE_QUORUM"
	CodeUnreachableDiversity = "UNREACHABLE_DIVERSITY"
	CodeUnreportedEvidence   = "UNREPORTED_EVIDENCE"
	CodeEscalationConflict   = "ESCALATION_CONFLICT"
	CodeReservedID           = "RESERVED_ID"
)

// Issue is one problem of a definition, an event list or a resolution. Path is
// a JSON pointer; the form layer uses node ids in it where the graph layer uses
// array indexes.
type Issue struct {
	Code    string `json:"code"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

// ValidationError carries all problems that one layer of checks found; it is
// never empty.
type ValidationError struct {
	Issues []Issue `json:"issues"`
}

// Error lists every issue, one a line.
func (e *ValidationError) Error() string {
	var b strings.Builder
	for i, issue := range e.Issues {
		if i > 0 {
			b.WriteByte('\n')
		}
		path := issue.Path
		if path == "" {
			path = "/"
		}
		fmt.Fprintf(&b, "%s: %s %s", issue.Code, path, issue.Message)
	}
	return b.String()
}

// report collects the issues of one layer.
type report struct{ issues []Issue }

func (r *report) add(code, path, format string, args ...any) {
	r.issues = append(r.issues, Issue{Code: code, Path: path, Message: fmt.Sprintf(format, args...)})
}

func (r *report) err() error {
	if len(r.issues) == 0 {
		return nil
	}
	return &ValidationError{Issues: r.issues}
}
