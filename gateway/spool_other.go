//go:build !linux

package gateway

import "os"

func unnamed(dir string) (*os.File, error) { return createAndUnlink(dir) }
