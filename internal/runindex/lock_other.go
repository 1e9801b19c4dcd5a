//go:build !unix

package runindex

import (
	"errors"
	"os"
)

func tryLock(*os.File) (bool, error) {
	return false, errors.New("not supported yet on this system")
}
