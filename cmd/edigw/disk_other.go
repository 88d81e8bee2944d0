//go:build !linux && !darwin

package main

import "errors"

func freeSpace(string) (uint64, error) { return 0, errors.New("cannot be told on this system") }
