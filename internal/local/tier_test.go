package local_test

import (
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/local"
)

var _ engine.Local = (*local.Tier)(nil)
