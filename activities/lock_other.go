//go:build !unix

package activities

import (
	"context"
	"errors"
)

func (a *Activities) lockWriter(context.Context, string) (func(), error) {
	return nil, errors.New("not supported yet on this system: use Linux or macOS")
}
