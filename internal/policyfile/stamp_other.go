//go:build !linux

package policyfile

import "io/fs"

func (s *stamp) addSystem(fs.FileInfo) {}
