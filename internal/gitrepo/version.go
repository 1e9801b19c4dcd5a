package gitrepo

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
)

// oldest is the first git that has everything we use.
var oldest = [2]int{2, 34}

// InstallGit is what helps where git is missing or too old.
var InstallGit = fmt.Sprintf("install git %d.%d or newer", oldest[0], oldest[1])

var versionPattern = regexp.MustCompile(`(\d+)\.(\d+)(\.\d+)?`)

// CheckGit gives the version of the git on PATH. Errors: ErrNoGit, or a git that is too old.
func CheckGit(ctx context.Context) (string, error) {
	out, err := Runner{}.line(ctx, call{}, "version")
	if err != nil {
		return "", err
	}
	return checkVersion(out)
}

func checkVersion(out string) (string, error) {
	parts := versionPattern.FindStringSubmatch(out)
	if parts == nil {
		return "", fmt.Errorf("git version: unexpected answer %q", out)
	}
	major, _ := strconv.Atoi(parts[1]) // the pattern has digits only
	minor, _ := strconv.Atoi(parts[2])
	if major < oldest[0] || major == oldest[0] && minor < oldest[1] {
		return parts[0], fmt.Errorf("git %s is too old: %s", parts[0], InstallGit)
	}
	return parts[0], nil
}
